import { Form, OpaqueText } from '#libs/platform/input';
import { ApiObject, constant, example } from '#libs/platform/openapi';

/** The form of a token request (RFC 6749, 4.4.2). */
@Form()
@ApiObject({
  name: 'TokenRequest',
  description:
    'Client credentials grant (RFC 6749, section 4.4). Send each parameter once. Unknown parameters are ignored.',
})
export class TokenRequestDto {
  @OpaqueText({
    ...constant('client_credentials'),
    required: true,
    description: 'Always `client_credentials`.',
  })
  grant_type!: string;

  @OpaqueText({
    minLength: 1,
    maxLength: 200,
    description: 'Required without HTTP Basic. With HTTP Basic, leave it out or send the same.',
    example: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8',
  })
  client_id?: string;

  @OpaqueText({
    format: 'password',
    minLength: 1,
    maxLength: 200,
    description: 'Required without HTTP Basic. With HTTP Basic, leave it out.',
    example: 'cs_the-secret-of-the-application',
  })
  client_secret?: string;

  @OpaqueText({
    maxLength: 2048,
    description: 'Leave it out, or send the audience of this API exactly. Any other gets `unsupported_audience`.',
    example: 'https://api.example.com',
  })
  audience?: string;

  @OpaqueText({
    maxLength: 1000,
    description: 'Scopes separated by spaces. Leave it out to get every granted scope.',
    example: 'inventory:read',
  })
  scope?: string;
}

export const TOKEN_REQUEST_EXAMPLES = {
  credentials: example<TokenRequestDto>('Credentials in the form', {
    grant_type: 'client_credentials',
    client_id: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8',
    client_secret: 'cs_the-secret-of-the-application',
  }),
  basic: example<TokenRequestDto>('Credentials by HTTP Basic, for a token that only reads', {
    grant_type: 'client_credentials',
    scope: 'inventory:read',
  }),
};
