import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { Clock } from '#libs/kernel';
import { AuditModule, CheckpointKeys } from '#libs/audit';
import { KeyRereading, PublicKeys } from '#libs/platform/keys';
import { Metrics } from '#libs/platform/observability';
import { Settings } from '#libs/platform/config';
import { AccessTokensService } from './application/access-tokens.service';
import { AccessTokenSigner } from './domain/access-token-signer.port';
import { ClientAssertions } from './domain/client-assertions.port';
import { GrantRepository } from './domain/grant-repository.port';
import { TokenRequestLimiter } from './domain/token-request-limiter.port';
import { DiscoveryController } from './http/discovery.controller';
import { MeController } from './http/me.controller';
import { TokenRequestOutcomes } from './http/token-problem';
import { TokenController } from './http/token.controller';
import { AccessTokenSignerJwt, SigningKeys } from './jwt/access-token-signer.jwt';
import { ClientAssertionsJwt } from './jwt/client-assertions.jwt';
import { TokenRequestLimiterRedis } from './redis/token-request-limiter.redis';
import { TrustedKeyWatch } from './typeorm/trusted-key-watch';
import { GrantRepositoryTypeorm } from './typeorm/grant-repository.typeorm';
import { clientSecrets, grantCache, issuerKeys } from './auth-operator.module';

/** Issues and checks tokens for the API. */
@Module({
  imports: [AuditModule, JwtModule.register({})],
  controllers: [TokenController, DiscoveryController, MeController],
  providers: [
    clientSecrets,
    { provide: GrantRepository, useClass: GrantRepositoryTypeorm },
    grantCache({ cachedElsewhere: () => false }),
    AccessTokensService,
    { provide: ClientAssertions, useClass: ClientAssertionsJwt },
    issuerKeys,
    TrustedKeyWatch,
    { provide: TokenRequestLimiter, useClass: TokenRequestLimiterRedis },
    {
      provide: TokenRequestOutcomes,
      useFactory: (metrics: Metrics) => {
        const outcomes = new TokenRequestOutcomes();
        const help = 'Token requests by outcome: issued, or the code of the problem.';
        metrics.tally({ name: 'compliance_token_requests_total', help }, 'outcome', outcomes);
        return outcomes;
      },
      inject: [Metrics],
    },
    Clock,
    { provide: AccessTokenSigner, useClass: AccessTokenSignerJwt },
    {
      provide: SigningKeys,
      useFactory: (settings: Settings, clock: Clock) => new SigningKeys(settings.signingKeysDir, clock).open(),
      inject: [Settings, Clock],
    },
    {
      provide: KeyRereading,
      useFactory: (keys: SigningKeys) => new KeyRereading('signing', keys),
      inject: [SigningKeys],
    },
    {
      provide: PublicKeys,
      useFactory: (signing: SigningKeys, checkpoints: CheckpointKeys) => new PublicKeys([signing, checkpoints]),
      inject: [SigningKeys, CheckpointKeys],
    },
  ],
  exports: [AccessTokensService, PublicKeys],
})
export class AuthModule {}
