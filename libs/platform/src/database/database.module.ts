import { type DynamicModule, Global, Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type DatabaseConnection, dataSourceOptions, poolOf } from './connections/data-source';
import { Database } from './database';
import { sendUnprepared } from './pipelined-statements';
import { Standbys } from './connections/standbys';

/** Provides Postgres to the instance. Waits up to 15 seconds for a server that is starting. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(connection: DatabaseConnection): DynamicModule {
    const logger = new Logger('Database');
    const { standbyUrls = [], poolSize, preparedStatements = true } = connection;
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions(connection, (error) =>
            logger.warn({ message: 'idle connection to Postgres lost', error }),
          ),
          retryAttempts: 8,
          retryDelay: 2_000,
          verboseRetryLog: false,
        }),
      ],
      providers: [
        {
          provide: Standbys,
          useFactory: (source: DataSource) =>
            standbyUrls.length === 0 ? null : new Standbys(poolOf(source), standbyUrls, poolSize, preparedStatements),
          inject: [DataSource],
        },
        {
          provide: Database,
          useFactory: (source: DataSource, standbys: Standbys | null) => {
            if (!preparedStatements) sendUnprepared(poolOf(source));
            return new Database(source, standbys);
          },
          inject: [DataSource, Standbys],
        },
      ],
      exports: [Database],
    };
  }
}
