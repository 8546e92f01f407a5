export { JSON_RESPONSE, type JsonMediaType, sentMembers } from './body/json-body';
export { FORM_MEDIA_TYPE, readForm } from './body/request-body';
export { entityTagOf, ifMatch, refuseIfMatch } from './entity-tag';
export { prefersPage } from './problem-pages.controller';
export {
  type Caller,
  CurrentCaller,
  CurrentWrite,
  type CurrentWriteRequest,
  logAccess,
  openContext,
  whenServed,
} from './request-context';
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
