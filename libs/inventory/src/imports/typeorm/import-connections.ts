import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Settings } from '#libs/platform/config';
import { dataSourceOptions, outliveLosses, poolOf } from '#libs/platform/database';
import { DataSource } from 'typeorm';

/** Imports at one time in this process. Each uses two connections at most. */
export const MOST_IMPORTS = 3;

/** Connections without the limits of requests, for a process that also serves requests. */
export class ImportConnections extends DataSource implements OnApplicationShutdown {
  constructor(url: string) {
    const logger = new Logger('Imports');
    super(
      dataSourceOptions({ url, poolSize: 2 * MOST_IMPORTS, patience: 'operator' }, (error) =>
        logger.warn({ message: 'idle connection to Postgres lost', error }),
      ),
    );
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    outliveLosses(poolOf(this));
    return this;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.destroy();
  }
}

/** Opened after the connections of requests, which wait for a database that is starting. */
export const importConnections = {
  provide: ImportConnections,
  useFactory: ({ databaseUrl }: Settings, _requests: DataSource) => new ImportConnections(databaseUrl).initialize(),
  inject: [Settings, DataSource],
};
