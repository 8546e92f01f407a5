import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { INTERCEPTORS_METADATA, METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { NestFactory } from '@nestjs/core';
import { SCOPES, isScope } from '#libs/kernel';
import { IdempotencyInterceptor } from '#libs/platform/idempotency';
import { Public, ROUTE_ACCESS, type RouteAccess, assertAccessDeclared } from '#libs/platform/http';
import { FEATURES } from '../../apps/features';
import { HealthController } from '../../libs/platform/src/health/health.controller';
import { ProblemPagesController } from '../../libs/platform/src/http/problem-pages.controller';

interface Route {
  readonly name: string;
  readonly method: number;
  readonly path: string;
  readonly access: RouteAccess | undefined;
  readonly isIdempotent: boolean;
}

const GET = 0;
/** All routes without a token. */
const PUBLIC_ROUTES = [
  'GET .well-known/jwks.json',
  'GET .well-known/oauth-authorization-server',
  'GET .well-known/oauth-protected-resource',
  'GET problems',
  'GET problems/:code',
  'GET v1/health',
  'POST oauth/token',
];

function routesOf(controller: Type): Route[] {
  const prototype = controller.prototype as Record<string, unknown>;
  return Object.getOwnPropertyNames(prototype)
    .map((name) => ({ name, handler: prototype[name] as object }))
    .filter(({ handler }) => Reflect.hasMetadata(METHOD_METADATA, handler))
    .map(({ name, handler }) => ({
      name: `${controller.name}.${name}`,
      method: Reflect.getMetadata(METHOD_METADATA, handler) as number,
      path: [Reflect.getMetadata(PATH_METADATA, controller), Reflect.getMetadata(PATH_METADATA, handler)]
        .filter((part) => part !== '/')
        .join('/'),
      access: (Reflect.getMetadata(ROUTE_ACCESS, handler) ?? Reflect.getMetadata(ROUTE_ACCESS, controller)) as
        RouteAccess | undefined,
      isIdempotent: ((Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? []) as unknown[]).includes(
        IdempotencyInterceptor,
      ),
    }));
}

const undeclared = (routes: readonly Route[]) =>
  routes.filter(({ access }) => access === undefined).map(({ name }) => name);

/** `all:…` cover the others; no endpoint uses `frameworks:read` yet. Any other scope needs a route. */
const SCOPES_WITHOUT_ROUTES = ['all:read', 'all:write', 'frameworks:read'];

describe('Every route', () => {
  let routes: Route[];

  beforeAll(async () => {
    const modules = await Promise.all(FEATURES.map((feature) => feature.api()));
    const controllers = modules.flatMap(
      (module) => (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? []) as Type[],
    );
    routes = [...controllers, HealthController, ProblemPagesController].flatMap(routesOf);
  });

  it('declares a scope or is marked public', () => {
    expect(routes.length).toBeGreaterThanOrEqual(9);
    expect(undeclared(routes)).toEqual([]);
  });

  it('is public only where the specification allows it', () => {
    const open = routes
      .filter(({ access }) => access?.kind === 'public')
      .map(({ method, path }) => `${method === GET ? 'GET' : 'POST'} ${path}`);
    expect(open.sort()).toEqual(PUBLIC_ROUTES);
  });

  it('accepts any token, whatever its scopes, only at GET /v1/me', () => {
    const anyToken = routes.filter(({ access }) => access?.kind === 'token');
    expect(anyToken.map(({ name }) => name)).toEqual(['MeController.get']);
  });

  it('requires a read scope for reads and a write scope for writes, and the scope can be granted', () => {
    for (const { name, method, access } of routes) {
      if (access?.kind !== 'scope') continue;
      expect([name, isScope(access.scope)]).toEqual([name, true]);
      expect([name, access.scope.endsWith(method === GET ? ':read' : ':write')]).toEqual([name, true]);
    }
  });

  it('can be reached by each scope, and authentication.md explains each', () => {
    const required = routes.map(({ access }) => (access?.kind === 'scope' ? access.scope : undefined));
    const page = readFileSync(join(__dirname, '../../docs/authentication.md'), 'utf8');
    const explained = [...page.matchAll(/^\| `([a-z]+:[a-z]+)` +\|/gm)].map(([, scope]) => scope);

    expect(SCOPES.filter((scope) => !required.includes(scope)).sort()).toEqual(SCOPES_WITHOUT_ROUTES);
    expect(explained.sort()).toEqual([...SCOPES].sort());
  });

  it('is idempotent when it writes under a scope, and only then', () => {
    const writes = routes.filter(({ method, access }) => access?.kind === 'scope' && method !== GET);
    expect(writes.length).toBeGreaterThanOrEqual(2);
    const idempotent = routes.filter(({ isIdempotent }) => isIdempotent);
    expect(idempotent.map(({ name }) => name)).toEqual(writes.map(({ name }) => name));
  });

  it('stops the start when it declares no access', async () => {
    @Controller('planted')
    class PlantedController {
      @Get('open')
      @Public()
      declared(): void {}

      @Get('forgotten')
      forgotten(): void {}
    }
    expect(undeclared(routesOf(PlantedController))).toEqual(['PlantedController.forgotten']);

    @Module({ controllers: [HealthController, PlantedController] })
    class PlantedModule {}
    const app = await NestFactory.create(PlantedModule, { logger: false });
    expect(() => assertAccessDeclared(app)).toThrow('No access is declared by PlantedController.forgotten.');
    await app.close();
  });
});
