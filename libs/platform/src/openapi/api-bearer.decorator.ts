import { applyDecorators } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';

/** Name of the security scheme of bearer tokens in the contract. */
export const CLIENT_CREDENTIALS_SCHEME = 'clientCredentials';

/** Documents that a route needs a bearer token with any one of these scopes; without scopes any token will do. */
export const ApiBearer = (scopes: readonly string[] = []): ClassDecorator & MethodDecorator =>
  scopes.length === 0
    ? ApiSecurity(CLIENT_CREDENTIALS_SCHEME, [])
    : applyDecorators(...scopes.map((scope) => ApiSecurity(CLIENT_CREDENTIALS_SCHEME, [scope])));
