import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiBearer } from '#libs/platform/openapi';
import { ROUTE_ACCESS, type RouteAccess } from '#libs/platform/http';

/** The route needs a bearer token, whatever its scopes. */
export const AnyToken = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'token' }), ApiBearer());
