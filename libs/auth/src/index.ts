export { NewestReads } from './application/newest-reads.service';
export { AuthModule } from './auth.module';
export { SCOPES, isScope } from './domain/scope';
export { AuthenticateAndChargeGuard } from './http/authenticate-and-charge.guard';
export { RequireScope } from './http/require-scope.decorator';
export { ScopeGuard } from './http/scope.guard';
export { tokenProblemExamples } from './http/token-problem';
export { SigningKeys } from './jwt/signing-keys';
