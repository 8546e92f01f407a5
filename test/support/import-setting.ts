import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import {
  DemoService,
  MapLibrary,
  type ImportOptions,
  type ImportReport,
  type ImportsService,
  type TagKeyRepository,
} from '#libs/inventory/operators';
import { type WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { ImportSettings } from '../../libs/inventory/src/imports/domain/import-store.port';
import { postureOf } from '../../libs/inventory/src/assets/typeorm/computer.row';
import { TagKeyRepositoryTypeorm } from '../../libs/inventory/src/tag-keys/typeorm/tag-key-repository.typeorm';
import { operatorDataSource } from './database-connection';
import { importsOn } from './imports';
import { type TestDatabase, addWorkspace, createTestDatabase } from './test-database';
import { anAuditRecorder } from './audit-recorder';

export type Row = Record<string, unknown>;

/** How a session opens that is asked for nothing. */
export const PLAIN_SETTINGS: ImportSettings = {
  source: 'test',
  dryRun: false,
  missing: 'keep',
  createTagKeys: null,
  run: { map: null, options: {}, files: [] },
};

export const EMPLOYEE = { categoryKey: 'EMPLOYEE', externalId: 'hr-17', name: 'Ada Okafor', email: 'ada@example.com' };
export const BUCKET = {
  categoryKey: 'CLOUD',
  type: 'CLOUD_STORAGE_BUCKET',
  externalId: 'arn:aws:s3:::logs',
  name: 'logs',
  accountId: '123456789012',
  region: 'eu-west-1',
  classification: 'INTERNAL',
  description: 'Access logs',
  owner: 'hr-17',
  tags: [{ key: 'env' }, { key: 'aws:stack', value: 'prod' }],
  createdAt: '2026-01-02T03:04:05Z',
  lastCheckedAt: '2026-11-01T00:00:00Z',
};
export const LAPTOP = {
  categoryKey: 'COMPUTER',
  externalId: 'C02XK',
  name: 'ada-mbp',
  serialNumber: 'C02XK',
  operatingSystem: 'macOS',
  osVersion: '15.1',
  owner: 'hr-17',
  managed: true,
  compliance: {
    agentVersion: '2.4.0',
    antivirusInstalled: true,
    passwordManagerInstalled: null,
    screenLockEnabled: false,
  },
};
export const RECORDS = {
  categoryKey: 'INFORMATION',
  externalId: 'ds-1',
  name: 'Patient records',
  dataStored: { containsPatientData: true, userDataInfo: 'tab\there, back\\slash and\nnewline' },
};
export const PRINTER = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Badge printer 🖨', visibility: 'HIDDEN' };
export const ALL = [EMPLOYEE, BUCKET, LAPTOP, RECORDS, PRINTER];

export const NOTHING = {
  read: 0,
  skipped: 0,
  rekeyed: 0,
  warned: 0,
  warnings: [],
  created: 0,
  updated: 0,
  unchanged: 0,
  hidden: 0,
  hiddenWhy: null,
  hidingRefused: false,
  newSource: false,
  failed: 0,
  errors: [],
  dryRun: false,
};

/** An operator's import on a database of its own, with access to the tables. */
export class ImportSetting {
  /** The workspace of the current test. */
  here!: WorkspaceId;

  private constructor(
    readonly database: TestDatabase,
    readonly dataSource: DataSource,
    readonly imports: ImportsService,
    readonly demo: DemoService,
    readonly tagKeys: TagKeyRepository,
    private readonly directory: string,
  ) {}

  static async open(options?: Parameters<typeof createTestDatabase>[0]): Promise<ImportSetting> {
    const database = await createTestDatabase(options);
    const dataSource = await operatorDataSource(database, 4);
    const keys = new TagKeyRepositoryTypeorm(new Database(dataSource), anAuditRecorder());
    const imports = importsOn(dataSource);
    const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    return new ImportSetting(
      database,
      dataSource,
      imports,
      new DemoService(imports, keys, (name) => MapLibrary.ofDemo().load(name)),
      keys,
      directory,
    );
  }

  async close(): Promise<void> {
    rmSync(this.directory, { recursive: true });
    await this.dataSource.destroy();
    await this.database.drop();
  }

  /** Creates a workspace with one customer key and one platform key. */
  async enterWorkspace(): Promise<void> {
    this.here = await addWorkspace(this.database.admin);
    await this.tagKeys.create(this.here, { key: 'env', value: 'production', platform: false });
    await this.tagKeys.create(this.here, { key: 'aws:stack', value: null, platform: true });
  }

  file(content: string | Buffer, name = `${randomUUID()}.ndjson`): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  ndjson(...records: unknown[]): string {
    return this.file(records.map((record) => JSON.stringify(record)).join('\n'));
  }

  run(path: string | readonly string[], options: Partial<ImportOptions> = {}): Promise<ImportReport> {
    return this.imports.run(this.here, {
      source: 'test',
      files: typeof path === 'string' ? [path] : path,
      dryRun: false,
      missing: 'keep',
      createTagKeys: null,
      ...options,
    });
  }

  importAll(...records: unknown[]): Promise<ImportReport> {
    return this.run(this.ndjson(...records));
  }

  async rowsOf(table: string): Promise<Row[]> {
    const { rows } = await this.database.admin.query<Row>(
      `SELECT * FROM ${table} WHERE workspace_id = $1 ORDER BY 1, 2, 3`,
      [this.here],
    );
    return rows;
  }

  async asset(externalId: string): Promise<Row> {
    const { rows } = await this.database.admin.query<Row>(
      'SELECT * FROM asset WHERE workspace_id = $1 AND external_id = $2',
      [this.here, externalId],
    );
    return rows[0] as Row;
  }

  /** Returns every row of the workspace, for comparison. */
  async everything(): Promise<string> {
    const rows: Row[][] = [];
    for (const table of ['asset', 'asset_tag', 'computer', 'tag_key', 'facet_count'])
      rows.push(await this.rowsOf(table));
    return JSON.stringify(rows);
  }

  async change(sql: string): Promise<void> {
    await this.database.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [this.here]);
    await this.database.admin.query(sql);
  }

  /** Waits until a query returns a row. */
  async until(sql: string): Promise<void> {
    const deadline = Date.now() + 60_000;
    while ((await this.database.admin.query(sql)).rowCount === 0) {
      if (Date.now() > deadline) throw new Error(`There was never a row: ${sql}`);
      await delay(20);
    }
  }

  /** Returns counters of any workspace that differ from a full count. */
  async wrongCounters(): Promise<Row[]> {
    const { rows } = await this.database.admin.query<Row>(
      `SELECT counter, workspace_id, key, sum(n) FROM (
         SELECT 'facet' AS counter, workspace_id, concat(sub_key, ' ', facet) AS key, count(*) AS n
           FROM asset WHERE facet IS NOT NULL GROUP BY 1, 2, 3
         UNION ALL SELECT 'facet', workspace_id, concat(sub_key, ' ', facet), -n FROM facet_count
         UNION ALL SELECT 'source', workspace_id, concat(source, ' ', sub_key, ' ', facet), count(*)
           FROM asset WHERE facet IS NOT NULL GROUP BY 1, 2, 3
         UNION ALL SELECT 'source', workspace_id, concat(source, ' ', sub_key, ' ', facet), -n FROM source_count
         UNION ALL SELECT 'tag', asset_tag.workspace_id, concat(tag_key_id, ' ', asset.sub_key, ' ', asset.facet), count(*)
           FROM asset_tag JOIN asset ON asset.id = asset_id WHERE asset.facet IS NOT NULL GROUP BY 1, 2, 3
         UNION ALL SELECT 'tag', workspace_id, concat(tag_key_id, ' ', sub_key, ' ', facet), -n FROM tag_count
         UNION ALL SELECT 'posture', asset.workspace_id, asset.id::text, 1
           FROM asset LEFT JOIN computer ON asset_id = asset.id
          WHERE posture IS DISTINCT FROM CASE WHEN sub_key = 12 THEN ${postureOf('computer')} END
       ) AS counts
        GROUP BY counter, workspace_id, key HAVING sum(n) <> 0`,
    );
    return rows;
  }
}
