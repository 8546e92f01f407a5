import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { RecordedEvents } from '#libs/audit/operators';
import type { ImportsService } from '#libs/inventory/operators';
import { workspaceId } from '#libs/kernel';
import { loadSettings } from '#libs/platform/config';
import { migrate } from '#libs/platform/database';
import { AuditEvidenceSystem } from '../../libs/audit/src/system/audit-evidence.system';
import { operatorDataSource } from '../support/database-connection';
import { ApiProcess } from '../support/api-process';
import { Arrangement } from '../support/arrangement';
import { importsOn } from '../support/imports';
import { type TemporaryPostgres } from '../support/temporary-postgres';
import { type TemporaryRedis } from '../support/temporary-redis.port';
import { createTestDatabase, superuserPool, testSchema } from '../support/test-database';
import { counterFaults, tagFaults, updateFaults } from './database-faults';
import { responseFaults } from './response-faults';
import { type History, OperationLog } from './operation-log';
import { PersistentClient } from './persistent-client';
import { Instance } from './instance';

interface Databases {
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string;
  readonly superuserUrl: string;
  drop(): Promise<void>;
}

/** Instances of the API as separate processes, with one Postgres, an optional Redis, and one client. */
export class FaultSetting {
  /** A superuser's connection, for arranging and checking. */
  admin!: Pool;
  /** Belong to the current test. */
  workspace!: string;
  token!: string;
  log!: OperationLog;
  readonly instances: Instance[] = [];
  private readonly directory = mkdtempSync(join(tmpdir(), 'compliance-faults-'));
  private logs = 0;

  private constructor(
    readonly databases: Databases,
    private readonly ownRedis: TemporaryRedis | null,
  ) {}

  /** Uses a database on the Postgres of the run, or all of `postgres`. Stops the given servers when it is closed. */
  static async open(given: { postgres?: TemporaryPostgres; redis?: TemporaryRedis } = {}): Promise<FaultSetting> {
    const databases = given.postgres ? await ownDatabases(given.postgres) : await sharedDatabases();
    const setting = new FaultSetting(databases, given.redis ?? null);
    await setting.connect();
    return setting;
  }

  get redis(): TemporaryRedis {
    if (this.ownRedis === null) throw new Error('This setting was opened without a Redis.');
    return this.ownRedis;
  }

  /** Starts instances together, each with its own settings. */
  async startInstances(...particulars: readonly Readonly<Record<string, string>>[]): Promise<Instance[]> {
    const started = await Promise.all(
      particulars.map((own) => Instance.start({ ...this.environment, REDIS_URL: this.ownRedis?.url ?? '', ...own })),
    );
    this.instances.push(...started);
    return started;
  }

  /** Resolves once every instance uses Redis again. */
  async findsRedis(): Promise<void> {
    for (const deadline = Date.now() + 20_000; !this.instances.every(({ usesRedis }) => usesRedis); await delay(50)) {
      if (Date.now() > deadline) throw new Error('Redis is not used again');
    }
  }

  /** Creates a workspace, a token and an empty log for the next test. */
  async enterWorkspace(): Promise<Arrangement> {
    const arrange = new Arrangement(
      this.admin,
      loadSettings({ DATABASE_URL: this.databases.databaseUrl, LOCAL_DIR: this.environment.LOCAL_DIR }),
      this.origins[0] as string,
    );
    this.workspace = await arrange.aWorkspace();
    this.token = await arrange.aToken(this.workspace);
    this.newLog();
    return arrange;
  }

  newLog(): void {
    this.log = new OperationLog(join(this.directory, `operations-${(this.logs += 1)}.ndjson`));
  }

  /** Creates assets and returns their public ids. */
  async assets(arrange: Arrangement, count: number): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push((await arrange.anAsset(this.workspace)).id);
    return ids;
  }

  client(origins: readonly string[] = this.origins): PersistentClient {
    return new PersistentClient(this.token, this.log, origins, () => {
      const [fault] = this.instanceFaults();
      if (fault !== undefined) throw new Error(fault);
    });
  }

  get origins(): string[] {
    return this.instances.map(({ origin }) => origin);
  }

  /** Returns every violation of the guarantees, in responses and in the database. */
  async faults(
    options: { readonly versionsCount?: boolean; readonly histories?: ReadonlyMap<string, History> } = {},
  ): Promise<string[]> {
    const histories = options.histories ?? this.log.read();
    return [
      ...responseFaults(histories.values()),
      ...(await updateFaults(this.admin, this.workspace, histories, options)),
      ...(await this.tagFaults()),
      ...(await counterFaults(this.admin, this.workspace)),
      ...(await this.auditFaults()),
      ...this.instanceFaults(),
    ];
  }

  async tagFaults(): Promise<string[]> {
    return tagFaults(this.admin, this.workspace);
  }

  async withOperator<Result>(work: (dataSource: DataSource) => Promise<Result>): Promise<Result> {
    const dataSource = await operatorDataSource(this.databases, 2);
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  /** Runs an import like `admin import`. */
  async import(file: string): ReturnType<ImportsService['run']> {
    return this.withOperator((dataSource) =>
      importsOn(dataSource).run(workspaceId(this.workspace), {
        source: 'test',
        files: [file],
        dryRun: false,
        missing: 'keep',
        createTagKeys: null,
      }),
    );
  }

  file(name: string): string {
    return join(this.directory, name);
  }

  /** Opens a separate connection to the database, as a superuser. */
  async newConnection(): Promise<Client> {
    const client = new Client({ connectionString: this.databases.superuserUrl });
    // A restarted server ends its connections. The next query on one fails.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async connect(): Promise<void> {
    this.admin = superuserPool(this.databases.superuserUrl);
  }

  async close(): Promise<void> {
    await ApiProcess.killAll();
    await this.admin.end().catch(() => undefined);
    await this.ownRedis?.stop();
    await this.databases.drop();
    rmSync(this.directory, { recursive: true });
  }

  /** Verifies the audit like `admin audit verify`. */
  async auditFaults(): Promise<string[]> {
    const settings = loadSettings({
      DATABASE_URL: this.databases.databaseUrl,
      LOCAL_DIR: this.environment.LOCAL_DIR,
    });
    const evidence = new AuditEvidenceSystem(readFileSync(settings.auditKeyFile));
    return this.withOperator(async (dataSource) => {
      const audit = new RecordedEvents(dataSource, evidence);
      const verdict = await audit.verify([workspaceId(this.workspace)]);
      return verdict.ok ? [] : [`the audit does not verify: ${JSON.stringify(verdict)}`];
    });
  }

  private instanceFaults(): string[] {
    return this.instances.flatMap(({ origin, collapsed }) => collapsed.map((words) => `${origin} ${words}`));
  }

  private get environment(): { readonly LOCAL_DIR: string } & Readonly<Record<string, string>> {
    return {
      DATABASE_URL: this.databases.databaseUrl,
      LOCAL_DIR: process.env['TEST_LOCAL_DIR'] as string,
      // Tokens must fit all instances, whatever their ports.
      BASE_URL: 'http://api.example.test',
      MANAGEMENT_PORT: '0',
      LOG_LEVEL: 'info',
      RATE_LIMIT_READ: '100000/100000',
      RATE_LIMIT_WRITE: '100000/100000',
      RATE_LIMIT_TOKEN: '100000/100000',
    };
  }
}

async function sharedDatabases(): Promise<Databases> {
  const database = await createTestDatabase();
  await database.admin.end();
  const superuserUrl = new URL(process.env['TEST_SUPERUSER_URL'] as string);
  superuserUrl.pathname = new URL(database.databaseUrl).pathname;
  const { databaseUrl, migrationDatabaseUrl } = database;
  return { databaseUrl, migrationDatabaseUrl, superuserUrl: superuserUrl.toString(), drop: () => database.drop() };
}

async function ownDatabases(postgres: TemporaryPostgres): Promise<Databases> {
  const { databaseUrl, migrationDatabaseUrl } = postgres;
  await migrate({ databaseUrl, migrationDatabaseUrl, schema: testSchema });
  const superuserUrl = new URL(postgres.superuserUrl);
  superuserUrl.pathname = new URL(databaseUrl).pathname;
  return { databaseUrl, migrationDatabaseUrl, superuserUrl: superuserUrl.toString(), drop: () => postgres.stop() };
}
