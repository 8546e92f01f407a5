import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { migrate } from '#libs/platform';
import { dataSourceOptions } from '../../libs/platform/src/database/data-source';
import { startTemporaryPostgres } from '../support/temporary-postgres';
import { testSchema } from '../support/test-database';

export interface BenchmarkDatabase {
  /** As the API connects. */
  readonly api: DataSource;
  /** As the operators' commands connect. */
  readonly operator: DataSource;
  /** A superuser, for looking behind the scenes. */
  readonly admin: Client;
  aWorkspace(): Promise<WorkspaceId>;
}

/** A Postgres of the benchmark's own, gone when it is done. */
export async function withBenchmarkDatabase(work: (database: BenchmarkDatabase) => Promise<void>): Promise<void> {
  const postgres = await startTemporaryPostgres({ postgresSettings: { shared_buffers: '1GB', max_wal_size: '8GB' } });
  try {
    const { databaseUrl, migrationDatabaseUrl } = postgres;
    await migrate({ databaseUrl, migrationDatabaseUrl, schema: testSchema });
    const api = new DataSource(
      dataSourceOptions({ url: databaseUrl, poolSize: 2, patience: 'request' }, () => undefined),
    );
    const operator = new DataSource(
      dataSourceOptions({ url: migrationDatabaseUrl, poolSize: 2, patience: 'operator' }, () => undefined),
    );
    const admin = new Client({ connectionString: postgres.superuserUrl.replace(/\/[^/]*$/, '/compliance') });
    await Promise.all([api.initialize(), operator.initialize(), admin.connect()]);
    await work({ api, operator, admin, aWorkspace: () => aWorkspace(admin) });
    await Promise.all([api.destroy(), operator.destroy(), admin.end()]);
  } finally {
    await postgres.stop();
  }
}

async function aWorkspace(admin: Client): Promise<WorkspaceId> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO workspace (slug, name) VALUES ($1, 'Benchmark') RETURNING id`,
    [`w-${randomBytes(6).toString('hex')}`],
  );
  return workspaceId((rows[0] as { id: string }).id);
}
