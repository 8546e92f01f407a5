import { type ExecutionContext, type INestApplicationContext, SetMetadata, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { ModulesContainer, type Reflector } from '@nestjs/core';

/** The access that a route requires. Every route must declare one, or the instance does not start. */
export type RouteAccess =
  { readonly kind: 'public' } | { readonly kind: 'token' } | { readonly kind: 'scope'; readonly scope: string };

export const ROUTE_ACCESS = 'route:access';

/** The route needs no bearer token. */
export const Public = (): MethodDecorator & ClassDecorator =>
  SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'public' });

/** Returns the access of the called route. @throws when it declares none */
export function accessOf(reflector: Reflector, context: ExecutionContext): RouteAccess {
  const access = reflector.getAllAndOverride<RouteAccess | undefined>(ROUTE_ACCESS, [
    context.getHandler(),
    context.getClass(),
  ]);
  if (!access) throw new Error(`${context.getClass().name}.${context.getHandler().name} declares no access.`);
  return access;
}

/** Checks the routes of all modules. @throws with the names of routes that declare no access */
export function assertAccessDeclared(app: INestApplicationContext): void {
  const undeclared = [...app.get(ModulesContainer).values()]
    .flatMap(({ controllers }) => [...controllers.values()])
    .flatMap(({ metatype }) => undeclaredRoutes(metatype as Type));
  if (undeclared.length > 0) throw new Error(`No access is declared by ${undeclared.join(', ')}.`);
}

function undeclaredRoutes(controller: Type): string[] {
  if (Reflect.hasMetadata(ROUTE_ACCESS, controller)) return [];
  const prototype = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(prototype)
    .filter((name) => {
      const handler = prototype[name] as object;
      return Reflect.hasMetadata(METHOD_METADATA, handler) && !Reflect.hasMetadata(ROUTE_ACCESS, handler);
    })
    .map((name) => `${controller.name}.${name}`);
}
