export { AuthenticateAndChargeGuard } from './http/authenticate-and-charge.guard';
export { ScopeGuard } from './http/scope.guard';
export { tokenProblemExamples } from './http/token-problem';
