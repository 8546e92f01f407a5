import { Module, type Provider } from '@nestjs/common';
import { AuditOperatorModule } from '#libs/audit/operators';
import { RedisClient } from '#libs/platform/redis';
import { Settings } from '#libs/platform/config';
import { readSecret } from '#libs/platform/keys';
import { ClientSecrets } from './domain/client-secrets.port';
import { GrantCache } from './domain/grant-cache.port';
import { PEPPER } from './system/pepper';
import { GrantCacheRedis } from './redis/grant-cache.redis';
import { ClientSecretsSystem } from './system/client-secrets.system';
import { Applications } from './typeorm/applications';
import { ClientKeys } from './typeorm/client-keys';
import { ApplicationChanges } from './typeorm/application-changes';
import { Trusts } from './typeorm/trusts';
import { IssuerKeys } from './domain/trusted-issuer';
import { IssuerKeysJwt } from './jwt/issuer-keys.jwt';
import { Workspaces } from './typeorm/workspaces';

export const clientSecrets = {
  provide: ClientSecrets,
  useFactory: (settings: Settings) => new ClientSecretsSystem(readSecret(PEPPER, settings)),
  inject: [Settings],
};

export const issuerKeys = { provide: IssuerKeys, useClass: IssuerKeysJwt };

/** `cachedElsewhere`: other processes may cache grants in a Redis that this process does not know. */
export const grantCache = (options: { readonly cachedElsewhere: (settings: Settings) => boolean }) => ({
  provide: GrantCache,
  useFactory: (redis: RedisClient, settings: Settings) =>
    new GrantCacheRedis(redis, settings, options.cachedElsewhere(settings)),
  inject: [RedisClient, Settings],
});

/** Changes of applications, for operators and people of the console. */
export const applicationServices: Provider[] = [Applications, ClientKeys, ApplicationChanges, Trusts, clientSecrets];

/** Workspaces and applications, for operators. */
@Module({
  imports: [AuditOperatorModule],
  providers: [
    ...applicationServices,
    issuerKeys,
    // The API may use a Redis that this command does not know.
    grantCache({ cachedElsewhere: () => true }),
    {
      provide: RedisClient,
      useFactory: (settings: Settings) => new RedisClient(settings.redisUrl),
      inject: [Settings],
    },
    Workspaces,
  ],
  exports: [Applications, ClientKeys, IssuerKeys, Trusts, Workspaces],
})
export class AuthOperatorModule {}
