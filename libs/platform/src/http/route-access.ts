import {
  type ExecutionContext,
  type INestApplicationContext,
  SetMetadata,
  type Type,
  applyDecorators,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { ModulesContainer, type Reflector } from '@nestjs/core';
import { ApiSecurity } from '@nestjs/swagger';
import { type Scope, coveringScope } from '#libs/kernel';

/** The access that a route requires. Every route must declare one, or the instance does not start. */
export type RouteAccess =
  | { readonly kind: 'public' }
  | { readonly kind: 'token' }
  | { readonly kind: 'scope'; readonly scope: string; readonly toExpand?: string };

export const ROUTE_ACCESS = 'route:access';
/** Name of the security scheme of bearer tokens in the contract. */
export const CLIENT_CREDENTIALS_SCHEME = 'clientCredentials';

const declare = (access: RouteAccess) => SetMetadata(ROUTE_ACCESS, access);

/** The route needs no bearer token. */
export const Public = (): MethodDecorator & ClassDecorator => declare({ kind: 'public' });

/** The route needs a bearer token, whatever its scopes. */
export const AnyToken = (): MethodDecorator & ClassDecorator =>
  applyDecorators(declare({ kind: 'token' }), ApiSecurity(CLIENT_CREDENTIALS_SCHEME, []));

/**
 * The route needs a bearer token with this scope or the one that covers it (`all:read`, `all:write`). The contract names
 * both. A request with `expand` needs the scope `toExpand` as well.
 */
export const RequireScope = (scope: Scope, toExpand?: Scope): MethodDecorator & ClassDecorator =>
  applyDecorators(
    declare({ kind: 'scope', scope, ...(toExpand && { toExpand }) }),
    ApiSecurity(CLIENT_CREDENTIALS_SCHEME, [scope]),
    ApiSecurity(CLIENT_CREDENTIALS_SCHEME, [coveringScope(scope)]),
  );

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
