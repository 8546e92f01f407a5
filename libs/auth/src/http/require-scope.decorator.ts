import { SetMetadata } from '@nestjs/common';
import { ROUTE_ACCESS, type RouteAccess } from '#libs/platform';
import type { Scope } from '../domain/scope';

/** The route needs a bearer token with this scope, or with the one that covers it (`all:read`, `all:write`). */
export const RequireScope = (scope: Scope): MethodDecorator & ClassDecorator =>
  SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'scope', scope });
