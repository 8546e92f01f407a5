import { Form, OpaqueText } from '#libs/platform/input';
import { JWT_BEARER } from '../domain/client-assertion';
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
    description:
      'Required without HTTP Basic and without an assertion that names the client. With HTTP Basic, leave it out or send the same.',
    example: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8',
  })
  client_id?: string;

  @OpaqueText({
    format: 'password',
    minLength: 1,
    maxLength: 200,
    description: 'Required without HTTP Basic and without an assertion. Beside one of them, leave it out.',
    example: 'cs_the-secret-of-the-application',
  })
  client_secret?: string;

  @OpaqueText({
    ...constant(JWT_BEARER),
    description: `Required beside \`client_assertion\`: always \`${JWT_BEARER}\`.`,
  })
  client_assertion_type?: string;

  @OpaqueText({
    minLength: 1,
    // As long as the form may be (read-form.interceptor.ts).
    maxLength: 16_384,
    description:
      'A JWT instead of the secret (RFC 7523, section 2.2). It is signed with a key of the application: its `iss` and `sub` are the client id, its `aud` is the issuer, and it needs `exp`, at most an hour ahead, and a new `jti`. Or it is the token of an issuer that the application trusts, such as GitHub Actions or Kubernetes.',
    example: 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJjaV8zZjlhIn0.c2lnbmF0dXJl',
  })
  client_assertion?: string;

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
  assertion: example<TokenRequestDto>('A signed assertion instead of a secret', {
    grant_type: 'client_credentials',
    client_assertion_type: JWT_BEARER,
    client_assertion: 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJjaV8zZjlhIn0.c2lnbmF0dXJl',
  }),
  basic: example<TokenRequestDto>('Credentials by HTTP Basic, for a token that only reads', {
    grant_type: 'client_credentials',
    scope: 'inventory:read',
  }),
};
