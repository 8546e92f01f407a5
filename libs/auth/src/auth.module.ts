import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { Clock } from '#libs/kernel';
import { KeyRereading, Metrics, RedisClient, Settings, SystemClock, readSecretFileSync } from '#libs/platform';
import { AccessTokenLifetime, AccessTokensService } from './application/access-tokens.service';
import { ApplicationsService } from './application/applications.service';
import { WorkspacesService } from './application/workspaces.service';
import { AccessTokenSigner } from './domain/access-token-signer.port';
import { ApplicationRepository } from './domain/application-repository.port';
import { ClientSecrets } from './domain/client-secrets.port';
import { GrantCache } from './domain/grant-cache.port';
import { TokenRequestLimiter } from './domain/token-request-limiter.port';
import { WorkspaceRepository } from './domain/workspace-repository.port';
import { TokenRequestOutcomes } from './http/token-request-outcomes';
import { TokenController } from './http/token.controller';
import { AccessTokenSignerJwt, TokenIdentity } from './jwt/access-token-signer.jwt';
import { SigningKeys } from './jwt/signing-keys';
import { GrantCacheRedis } from './redis/grant-cache.redis';
import { TokenRequestLimiterRedis } from './redis/token-request-limiter.redis';
import { ClientSecretsSystem } from './system/client-secrets.system';
import { ApplicationRepositoryTypeorm } from './typeorm/application-repository.typeorm';
import { WorkspaceRepositoryTypeorm } from './typeorm/workspace-repository.typeorm';

const applicationProviders = [
  ApplicationsService,
  { provide: ApplicationRepository, useClass: ApplicationRepositoryTypeorm },
  {
    provide: ClientSecrets,
    useFactory: (settings: Settings) => new ClientSecretsSystem(readSecretFileSync(settings.secretPepperFile)),
    inject: [Settings],
  },
];

const grantCache = (options: { readonly cachedElsewhere: boolean }) => ({
  provide: GrantCache,
  useFactory: (redis: RedisClient, settings: Settings) => new GrantCacheRedis(redis, settings, options.cachedElsewhere),
  inject: [RedisClient, Settings],
});

/** Tokens and their checks, for the API. */
@Module({
  imports: [JwtModule.register({})],
  controllers: [TokenController],
  providers: [
    ...applicationProviders,
    grantCache({ cachedElsewhere: false }),
    AccessTokensService,
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
    { provide: Clock, useClass: SystemClock },
    { provide: AccessTokenSigner, useClass: AccessTokenSignerJwt },
    {
      provide: SigningKeys,
      useFactory: (settings: Settings, clock: Clock) => SigningKeys.open(settings.signingKeysDir, clock),
      inject: [Settings, Clock],
    },
    {
      provide: KeyRereading,
      useFactory: (keys: SigningKeys) => new KeyRereading('signing', keys),
      inject: [SigningKeys],
    },
    {
      provide: TokenIdentity,
      useFactory: (settings: Settings) => new TokenIdentity(settings.baseUrl, settings.tokenAudience),
      inject: [Settings],
    },
    {
      provide: AccessTokenLifetime,
      useFactory: (settings: Settings) => new AccessTokenLifetime(settings.accessTokenTtlSeconds),
      inject: [Settings],
    },
  ],
  exports: [AccessTokensService, SigningKeys],
})
export class AuthModule {}

/** Workspaces and applications, for operators. */
@Module({
  providers: [
    ...applicationProviders,
    // The API may have a Redis that this command was not told of.
    grantCache({ cachedElsewhere: true }),
    {
      provide: RedisClient,
      useFactory: (settings: Settings) => new RedisClient(settings.redisUrl),
      inject: [Settings],
    },
    WorkspacesService,
    { provide: WorkspaceRepository, useClass: WorkspaceRepositoryTypeorm },
  ],
  exports: [ApplicationsService, WorkspacesService],
})
export class AuthOperatorModule {}
