export { JSON_RESPONSE, type JsonBody } from './body/json-body';
export { readBody } from './body/request-body';
export { entityTagOf, ifMatch, refuseIfMatch } from './entity-tag';
export { prefersPage } from './prefers-page';
export { type Caller, CurrentCaller, CurrentWrite, type CurrentWriteRequest, openContext } from './request-context';
export {
  AnyToken,
  CLIENT_CREDENTIALS_SCHEME,
  Public,
  ROUTE_ACCESS,
  RequireScope,
  type RouteAccess,
  accessOf,
  assertAccessDeclared,
} from './route-access';
export { NoQueryDto, StrictQueryPipe } from './strict-query.pipe';
