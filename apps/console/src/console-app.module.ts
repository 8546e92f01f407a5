import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ConsoleModule } from '#libs/console';
import { listServices } from '#libs/platform';
import { FeedPaging } from '#libs/platform/change-pages';
import { ChangeFeed, DayCounts, History } from '#libs/platform/changes';
import { Settings } from '#libs/platform/config';
import { DatabaseModule } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { Paging } from '#libs/platform/pagination';
import { RedisClient } from '#libs/platform/redis';
import { TokenBuckets } from '#libs/platform/throttling';
import { entities } from '../../whole-schema';

/** A few people look at pages. Requests beyond it wait. */
const POOL_SIZE = 4;

@Global()
@Module({})
export class ConsoleAppModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: ConsoleAppModule,
      imports: [
        DatabaseModule.forRoot({
          url: settings.databaseUrl,
          poolSize: POOL_SIZE,
          patience: 'request',
          entities,
          preparedStatements: settings.preparedStatements,
        }),
        ConsoleModule,
      ],
      providers: [
        { provide: Settings, useValue: settings },
        { provide: RedisClient, useValue: new RedisClient(settings.redisUrl) },
        { provide: Metrics, useValue: new Metrics() },
        TokenBuckets,
        ...listServices(settings),
      ],
      exports: [Settings, RedisClient, Metrics, TokenBuckets, Paging, FeedPaging, ChangeFeed, History, DayCounts],
    };
  }
}
