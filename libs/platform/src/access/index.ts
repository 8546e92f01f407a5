export { AnyToken, RequireScope } from './require-scope.decorator';
