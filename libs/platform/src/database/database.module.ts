import { type DynamicModule, Global, Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { RedisServer } from '../redis/redis-server';
import { type DatabaseConnection, dataSourceOptions, poolOf } from './data-source';
import { Database } from './database';
import { sendUnprepared } from './pipelined-statements';
import { RecentWrites } from './recent-writes';
import { Replicas } from './replicas';

/** Postgres for the whole process. Waits up to a quarter of a minute for a server that is still coming up. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(connection: DatabaseConnection): DynamicModule {
    const logger = new Logger('Database');
    const { replicaUrls = [], poolSize, preparedStatements = true } = connection;
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions(connection, (error) => logger.warn(`An idle connection was lost: ${error.message}`)),
          autoLoadEntities: true,
          retryAttempts: 8,
          retryDelay: 2_000,
          verboseRetryLog: false,
        }),
      ],
      providers: [
        {
          provide: Replicas,
          useFactory: (source: DataSource) =>
            replicaUrls.length === 0 ? null : new Replicas(poolOf(source), replicaUrls, poolSize, preparedStatements),
          inject: [DataSource],
        },
        {
          provide: Database,
          useFactory: (source: DataSource, replicas: Replicas | null) => {
            if (!preparedStatements) sendUnprepared(poolOf(source));
            return new Database(source, replicas);
          },
          inject: [DataSource, Replicas],
        },
        {
          provide: RecentWrites,
          useFactory: (replicas: Replicas | null, redis?: RedisServer) =>
            new RecentWrites(redis ?? new RedisServer(null), replicas),
          inject: [Replicas, { token: RedisServer, optional: true }],
        },
      ],
      exports: [Database, RecentWrites],
    };
  }
}
