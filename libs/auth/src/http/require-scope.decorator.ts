import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiBearer } from '#libs/platform/openapi';
import { ROUTE_ACCESS, type RouteAccess } from '#libs/platform/http';
import { type Scope, coveringScope } from '../domain/scope';

/**
 * The route needs a bearer token with this scope, or with the one that covers it (`all:read`, `all:write`). The contract
 * says so by the same word.
 */
export const RequireScope = (scope: Scope): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'scope', scope }),
    ApiBearer([scope, coveringScope(scope)]),
  );
