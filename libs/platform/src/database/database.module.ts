import { type DynamicModule, Global, Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type DatabaseConnection, dataSourceOptions } from './data-source';
import { Database } from './database';

/** Postgres for the whole process. Waits up to a quarter of a minute for a server that is still coming up. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(connection: DatabaseConnection): DynamicModule {
    const logger = new Logger('Database');
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
      providers: [Database],
      exports: [Database],
    };
  }
}
