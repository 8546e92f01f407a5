export { AnyToken } from './any-token.decorator';
export { RequireScope } from './require-scope.decorator';
