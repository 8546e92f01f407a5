import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SCOPES } from '#libs/kernel';
import { CLIENT_ALGORITHMS } from '../domain/client-assertion';
import { ApiObject, openEnum, example } from '#libs/platform/openapi';

const BASE_URL = 'https://api.example.com';
const url = (description: string, path = '') =>
  ({ format: 'uri', maxLength: 2048, description, example: `${BASE_URL}${path}` }) as const;
const list = (values: readonly string[], description: string) =>
  ({
    type: 'array',
    items: openEnum(values, 'A value.'),
    maxItems: 64,
    description,
    example: [...values],
  }) as const;
const base64url = (description: string, example: string) =>
  ({ maxLength: 4096, pattern: '^[A-Za-z0-9_-]+$', description, example }) as const;

export const KEY_SET_PATH = '.well-known/jwks.json';
const CLIENT_AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

const EXAMPLE_SCOPES = ['inventory:read', 'inventory:write'];

@ApiObject({ name: 'AuthorizationServerMetadata', description: 'Authorization server metadata (RFC 8414, section 2).' })
export class AuthorizationServerDto {
  @ApiProperty(url('Issuer of the tokens: the base URL of the API.'))
  issuer!: string;

  @ApiProperty(url('Address of the token endpoint.', '/oauth/token'))
  token_endpoint!: string;

  @ApiProperty(url('Address of the public keys of tokens.', '/.well-known/jwks.json'))
  jwks_uri!: string;

  @ApiProperty(list(SCOPES, 'Every scope that an application can have.'))
  scopes_supported!: readonly string[];

  @ApiProperty(list(['none'], 'The RFC requires this member. There is no authorization endpoint.'))
  response_types_supported!: readonly string[];

  @ApiProperty(list(['client_credentials'], 'Grants of the token endpoint.'))
  grant_types_supported!: readonly string[];

  @ApiProperty(list(CLIENT_AUTHENTICATION_METHODS, 'Ways in which a client can prove itself.'))
  token_endpoint_auth_methods_supported!: readonly string[];

  @ApiProperty(list(CLIENT_ALGORITHMS, 'Algorithms of signed assertions.'))
  token_endpoint_auth_signing_alg_values_supported!: readonly string[];

  @ApiProperty(url('Documentation of the API.', '/docs'))
  service_documentation!: string;
}

@ApiObject({ name: 'ProtectedResourceMetadata', description: 'Protected resource metadata (RFC 9728, section 2).' })
export class ProtectedResourceDto {
  @ApiProperty(url('Resource identifier: the base URL of the API.'))
  resource!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uri', maxLength: 2048 },
    maxItems: 16,
    description: 'Issuers of the tokens that the API accepts.',
    example: [BASE_URL],
  })
  authorization_servers!: readonly string[];

  @ApiProperty(list(SCOPES, 'Every scope that an application can have.'))
  scopes_supported!: readonly string[];

  @ApiProperty(list(['header'], 'Places of a request where the token may stand.'))
  bearer_methods_supported!: readonly string[];

  @ApiProperty(url('Documentation of the API.', '/docs'))
  resource_documentation!: string;
}

@ApiObject({ name: 'JsonWebKey', description: 'A public key (RFC 7517, section 4).' })
export class JsonWebKeyDto {
  @ApiProperty(openEnum(['RSA', 'OKP'], 'Type of the key.'))
  kty!: string;

  @ApiProperty({
    maxLength: 64,
    description: 'Id of the key. Tokens name it; checkpoints name a hash of the key instead.',
    example: '20261101T000000000Z-1f0c9d2a',
  })
  kid!: string;

  @ApiProperty(openEnum(['sig'], 'Use of the key.'))
  use!: string;

  @ApiProperty(openEnum(['RS256', 'EdDSA'], 'Algorithm of the key.'))
  alg!: string;

  @ApiPropertyOptional(
    base64url('Modulus of an RSA key.', 'sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1Wl'),
  )
  n?: string;

  @ApiPropertyOptional(base64url('Exponent of an RSA key.', 'AQAB'))
  e?: string;

  @ApiPropertyOptional(openEnum(['Ed25519'], 'Curve of an OKP key.'))
  crv?: string;

  @ApiPropertyOptional(base64url('Public key of an OKP key.', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'))
  x?: string;
}

@ApiObject({ name: 'JsonWebKeySet', description: 'Public keys (RFC 7517, section 5).' })
export class KeySetDto {
  @ApiProperty({
    type: [JsonWebKeyDto],
    'x-unbounded': 'As many as the operator keeps.',
    description: 'The keys. Ignore those of a type or use that you do not know.',
  } as { type: [typeof JsonWebKeyDto] })
  keys!: readonly JsonWebKeyDto[];
}

export const authorizationServerOf = (baseUrl: string, scopes: readonly string[]): AuthorizationServerDto => ({
  issuer: baseUrl,
  token_endpoint: `${baseUrl}/oauth/token`,
  jwks_uri: `${baseUrl}/${KEY_SET_PATH}`,
  scopes_supported: scopes,
  response_types_supported: ['none'],
  grant_types_supported: ['client_credentials'],
  token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
  token_endpoint_auth_signing_alg_values_supported: CLIENT_ALGORITHMS,
  service_documentation: `${baseUrl}/docs`,
});

export const protectedResourceOf = (baseUrl: string, scopes: readonly string[]): ProtectedResourceDto => ({
  resource: baseUrl,
  authorization_servers: [baseUrl],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_documentation: `${baseUrl}/docs`,
});

export const AUTHORIZATION_SERVER_EXAMPLES = {
  metadata: example('Metadata', authorizationServerOf(BASE_URL, EXAMPLE_SCOPES)),
};

export const PROTECTED_RESOURCE_EXAMPLES = {
  metadata: example('Metadata', protectedResourceOf(BASE_URL, EXAMPLE_SCOPES)),
};

export const KEY_SET_EXAMPLES = {
  two: example<KeySetDto>('A key of tokens and one of checkpoints', {
    keys: [
      {
        kty: 'RSA',
        kid: '20261101T000000000Z-1f0c9d2a',
        use: 'sig',
        alg: 'RS256',
        n: 'sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1Wl',
        e: 'AQAB',
      },
      {
        kty: 'OKP',
        kid: '20261101T000000000Z-8a04bd17',
        use: 'sig',
        alg: 'EdDSA',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      },
    ],
  }),
};
