import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ROUTE_ACCESS, type RouteAccess } from '../http/route-access';
import { ApiBearer } from '../openapi/api-bearer.decorator';

/** The route needs a bearer token, whatever its scopes. */
export const AnyToken = (): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata<string, RouteAccess>(ROUTE_ACCESS, { kind: 'token' }), ApiBearer());
