import { SetMetadata, applyDecorators } from '@nestjs/common';
import { type Scope, coveringScope } from '#libs/kernel';
import { ROUTE_ACCESS, type RouteAccess } from '../http/route-access';
import { ApiBearer } from '../openapi/api-bearer.decorator';

/**
 * Requires a bearer token with this scope or the one that covers it (`all:read`, `all:write`). Also documents the scope
 * in the contract.
 */
export const RequireScope = (scope: Scope): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'scope', scope }),
    ApiBearer([scope, coveringScope(scope)]),
  );

/** The route needs a bearer token, whatever its scopes. */
export const AnyToken = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'token' }), ApiBearer());
