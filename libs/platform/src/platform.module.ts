import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { KeyRereading } from './keys/key-rereading';
import { Settings } from './config/settings';
import { Idempotency } from './idempotency/idempotency';
import { IdempotencyPurge } from './idempotency/records/idempotency-purge';
import { IdempotencyRecords } from './idempotency/records/idempotency-records';
import { KeyLease } from './idempotency/key-lease';
import { HealthController } from './health/health.controller';
import { Database } from './database/database';
import { HttpMetrics } from './http/server/http-metrics';
import { Metrics } from './observability/metrics';
import { watchPlatform } from './platform-metrics';
import { CursorKeys } from './keys/cursor-keys';
import { ChangeFeed } from './changes/change-feed';
import { DayCounts } from './changes/day-counts';
import { History } from './changes/history';
import { Cursors } from './pagination/cursors';
import { FeedPaging } from './change-pages/feed-paging';
import { Paging } from './pagination/paging';
import { ProblemFilter } from './http/server/problem.filter';
import { ProblemPagesController } from './http/problem-pages.controller';
import { RedisClient } from './redis/redis-client';
import { Streams } from './streams/streams';
import { StreamPlaces } from './streams/stream-places';
import { throttling } from './throttling/throttler-options';
import { TokenBuckets } from './throttling/token-buckets';

/** Services of lists: pages with sealed cursors, feeds and history. */
export const listServices = ({ signingKeysDir, cursorKeysFile }: Settings): Provider[] => [
  {
    provide: CursorKeys,
    useFactory: () => new CursorKeys(signingKeysDir, cursorKeysFile, new Clock()).open(),
  },
  { provide: Cursors, useFactory: (keys: CursorKeys) => new Cursors(keys), inject: [CursorKeys] },
  { provide: KeyRereading, useFactory: (keys: CursorKeys) => new KeyRereading('cursor', keys), inject: [CursorKeys] },
  Paging,
  ChangeFeed,
  History,
  DayCounts,
  FeedPaging,
];

/** Provides the infrastructure that every feature of the HTTP service uses. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: PlatformModule,
      imports: [throttling],
      controllers: [HealthController, ProblemPagesController],
      providers: [
        { provide: Settings, useValue: settings },
        ...listServices(settings),
        ProblemFilter,
        { provide: RedisClient, useValue: new RedisClient(settings.redisUrl) },
        {
          provide: Metrics,
          useFactory: (database: Database, redis: RedisClient, idempotency: Idempotency) => {
            const metrics = new Metrics();
            watchPlatform(metrics, { database, redis, idempotency, replicas: settings.replicas });
            return metrics;
          },
          inject: [Database, RedisClient, Idempotency],
        },
        { provide: HttpMetrics, useFactory: (metrics: Metrics) => new HttpMetrics(metrics), inject: [Metrics] },
        TokenBuckets,
        StreamPlaces,
        Streams,
        KeyLease,
        IdempotencyRecords,
        Idempotency,
        IdempotencyPurge,
      ],
      exports: [
        Settings,
        Paging,
        ChangeFeed,
        History,
        DayCounts,
        FeedPaging,
        Streams,
        ProblemFilter,
        RedisClient,
        TokenBuckets,
        Idempotency,
        Metrics,
        throttling,
      ],
    };
  }
}
