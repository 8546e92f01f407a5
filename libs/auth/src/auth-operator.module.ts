import { Module } from '@nestjs/common';
import { AuditOperatorModule } from '#libs/audit/operators';
import { RedisClient } from '#libs/platform/redis';
import { Settings, readSecretFileSync } from '#libs/platform/config';
import { ApplicationsService } from './application/applications.service';
import { ApplicationRepository } from './domain/application-repository.port';
import { ClientSecrets } from './domain/client-secrets.port';
import { GrantCache } from './domain/grant-cache.port';
import { GrantCacheRedis } from './redis/grant-cache.redis';
import { ClientSecretsSystem } from './system/client-secrets.system';
import { ApplicationRepositoryTypeorm } from './typeorm/application-repository.typeorm';
import { Workspaces } from './typeorm/workspaces';

/** Applications and their secrets, for operators and the API alike. */
export const applicationProviders = [
  ApplicationsService,
  { provide: ApplicationRepository, useClass: ApplicationRepositoryTypeorm },
  {
    provide: ClientSecrets,
    useFactory: (settings: Settings) => new ClientSecretsSystem(readSecretFileSync(settings.secretPepperFile)),
    inject: [Settings],
  },
];

/** `cachedElsewhere`: other processes may cache grants in a Redis that this process does not know. */
export const grantCache = (options: { readonly cachedElsewhere: boolean }) => ({
  provide: GrantCache,
  useFactory: (redis: RedisClient, settings: Settings) => new GrantCacheRedis(redis, settings, options.cachedElsewhere),
  inject: [RedisClient, Settings],
});

/** Workspaces and applications, for operators. */
@Module({
  imports: [AuditOperatorModule],
  providers: [
    ...applicationProviders,
    // The API may use a Redis that this command does not know.
    grantCache({ cachedElsewhere: true }),
    {
      provide: RedisClient,
      useFactory: (settings: Settings) => new RedisClient(settings.redisUrl),
      inject: [Settings],
    },
    Workspaces,
  ],
  exports: [ApplicationsService, Workspaces],
})
export class AuthOperatorModule {}
