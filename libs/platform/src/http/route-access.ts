import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

/** What a route demands of its caller. Every route declares one; a route without is refused at start and by a test. */
export type RouteAccess = { readonly kind: 'public' } | { readonly kind: 'scope'; readonly scope: string };

export const ROUTE_ACCESS = 'route:access';

/** The route needs no bearer token. */
export const Public = (): MethodDecorator & ClassDecorator =>
  SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'public' });

/** Closed by default: a route that declares nothing is a fault of ours, and answers nothing. */
export function accessOf(reflector: Reflector, context: ExecutionContext): RouteAccess {
  const access = reflector.getAllAndOverride<RouteAccess | undefined>(ROUTE_ACCESS, [
    context.getHandler(),
    context.getClass(),
  ]);
  if (!access) throw new Error(`${context.getClass().name}.${context.getHandler().name} declares no access.`);
  return access;
}
