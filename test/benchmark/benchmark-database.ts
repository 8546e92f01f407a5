import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { type DemoSize, DEMO_SIZES } from '../../libs/inventory/src/imports/domain/demo-inventory';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { loadDemoAssets } from '../support/demo-assets';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

/** A migrated database with workspaces of the demo's sizes. */
export class BenchmarkDatabase {
  private readonly workspaces = new Map<DemoSize, Promise<WorkspaceId>>();
  private made = 0;

  private constructor(
    private readonly database: TestDatabase,
    /** Connects like the API. */
    readonly api: DataSource,
    /** Connects like the operators' commands. */
    readonly operator: DataSource,
    private readonly say: (line: string) => void,
  ) {}

  static async create(say: (line: string) => void): Promise<BenchmarkDatabase> {
    const database = await createTestDatabase();
    const source = (url: string, patience: 'request' | 'operator'): Promise<DataSource> =>
      new DataSource(dataSourceOptions({ url, poolSize: 2, patience }, () => undefined)).initialize();
    const api = await source(database.databaseUrl, 'request');
    const operator = await source(database.migrationDatabaseUrl, 'operator');
    return new BenchmarkDatabase(database, api, operator, say);
  }

  get databaseUrl(): string {
    return this.database.databaseUrl;
  }

  get consoleDatabaseUrl(): string {
    return this.database.consoleDatabaseUrl;
  }

  get migrationDatabaseUrl(): string {
    return this.database.migrationDatabaseUrl;
  }

  /** Connects as a superuser, whom row-level security does not restrict. */
  get superuserUrl(): string {
    const url = new URL(process.env['TEST_SUPERUSER_URL'] as string);
    url.pathname = new URL(this.database.databaseUrl).pathname;
    return url.href;
  }

  /** A superuser's connection, for arranging and checking. */
  get admin(): Pool {
    return this.database.admin;
  }

  /** Creates an empty workspace. */
  async aWorkspace(): Promise<{ readonly id: WorkspaceId; readonly slug: string }> {
    this.made += 1;
    const slug = `benchmark-${this.made}`;
    const { rows } = await this.admin.query<{ id: string }>(
      `INSERT INTO workspace (slug, name) VALUES ($1, 'Benchmark') RETURNING id`,
      [slug],
    );
    return { id: workspaceId((rows[0] as { id: string }).id), slug };
  }

  /** Returns the workspace of this size, and loads it at the first call. */
  workspace(size: DemoSize): Promise<WorkspaceId> {
    let loaded = this.workspaces.get(size);
    if (!loaded) {
      loaded = this.load(size);
      this.workspaces.set(size, loaded);
    }
    return loaded;
  }

  async close(): Promise<void> {
    for (const source of [this.api, this.operator]) if (source.isInitialized) await source.destroy();
    await this.admin.end();
  }

  /** Closes the database and frees its disk space. */
  async drop(): Promise<void> {
    for (const source of [this.api, this.operator]) await source.destroy();
    await this.database.drop();
  }

  private async load(size: DemoSize): Promise<WorkspaceId> {
    const { id } = await this.aWorkspace();
    await loadDemoAssets(this.operator, id, DEMO_SIZES[size], this.say);
    await this.admin.query('VACUUM ANALYZE');
    return id;
  }
}
