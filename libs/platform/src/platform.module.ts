import { readFileSync } from 'node:fs';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Settings } from './config/settings';
import { Idempotency } from './idempotency/idempotency';
import { IdempotencyPurge } from './idempotency/idempotency-purge';
import { IdempotencyPurgeWorker } from './idempotency/purge-worker';
import { IdempotencyRecords } from './idempotency/idempotency-records';
import { KeyLease } from './idempotency/key-lease';
import { HealthController } from './health/health.controller';
import { readCursorKeys } from './pagination/cursor-keys';
import { Cursors } from './pagination/cursors';
import { Paging } from './pagination/paging';
import { ProblemFilter } from './problems/problem.filter';
import { ProblemPagesController } from './problems/problem-pages.controller';
import { RedisServer } from './redis/redis-server';

/** What every feature of the HTTP service leans on. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(settings: Settings): DynamicModule {
    const cursorKeys = readCursorKeys(readFileSync(settings.cursorKeysFile, 'utf8'));
    return {
      module: PlatformModule,
      controllers: [HealthController, ProblemPagesController],
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Cursors, useValue: new Cursors(() => cursorKeys) },
        Paging,
        ProblemFilter,
        { provide: RedisServer, useValue: new RedisServer(settings.redisUrl) },
        KeyLease,
        IdempotencyRecords,
        Idempotency,
        IdempotencyPurge,
        {
          provide: IdempotencyPurgeWorker,
          useFactory: (purge: IdempotencyPurge) => new IdempotencyPurgeWorker(purge),
          inject: [IdempotencyPurge],
        },
      ],
      exports: [Settings, Paging, ProblemFilter, RedisServer, Idempotency],
    };
  }
}
