import { readFileSync } from 'node:fs';
import { Applications, ClientKeys, Trusts } from '#libs/auth/operators';
import { ApplicationChanges } from '../../libs/auth/src/typeorm/application-changes';
import type { ImportsService, TagKeyRepository } from '#libs/inventory/operators';
import { Database } from '#libs/platform/database';
import { RedisClient } from '#libs/platform/redis';
import { GrantCacheRedis } from '../../libs/auth/src/redis/grant-cache.redis';
import { ClientSecretsSystem } from '../../libs/auth/src/system/client-secrets.system';
import { TagKeyRepositoryTypeorm } from '../../libs/inventory/src/tag-keys/typeorm/tag-key-repository.typeorm';
import { operatorDataSource } from './database-connection';
import { importsOn } from './imports';
import type { TestApp } from './start-app';
import { anAuditRecorder } from './audit-recorder';

/** Runs an operator's command on the database of an API, composed as in the command line. */
export interface TestOperator {
  readonly applications: Applications;
  readonly clientKeys: ClientKeys;
  readonly trusts: Trusts;
  readonly tagKeys: TagKeyRepository;
  readonly imports: ImportsService;
  close(): Promise<void>;
}

export async function openOperator({ database, settings }: TestApp): Promise<TestOperator> {
  const dataSource = await operatorDataSource(database, 2);
  const redis = new RedisClient(settings.redisUrl);
  await redis.onModuleInit();
  const audit = anAuditRecorder();
  // No grant is cached beyond the Redis of the API, so without one a change need not wait for leases.
  const grants = new GrantCacheRedis(redis, settings, false);
  const changes = new ApplicationChanges(new Database(dataSource), audit, grants);
  return {
    clientKeys: new ClientKeys(changes),
    trusts: new Trusts(changes, settings),
    tagKeys: new TagKeyRepositoryTypeorm(new Database(dataSource), audit),
    imports: importsOn(dataSource),
    applications: new Applications(
      new Database(dataSource),
      changes,
      new ClientSecretsSystem(readFileSync(settings.secretPepperFile)),
    ),
    close: async () => {
      redis.onApplicationShutdown();
      await dataSource.destroy();
    },
  };
}
