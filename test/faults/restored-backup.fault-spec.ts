import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { ApiClient } from '../support/api-client';
import { startRestored, takeBackup, type RestoredPostgres } from '../support/postgres-backup';
import { RunningCommand } from '../support/running-command';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';
import { FaultSetting } from './fault-setting';
import { type Operation, keyHashOf } from './operation-log';
import { MINUTE, sized, tell } from './sizes';

const RECORDS = sized({ short: 300, long: 100_000 });
const ASSETS = 20;
const SENDERS = 4;
/** Keeps the write-ahead log until it is copied. */
const KEEP_LOG = { wal_keep_size: '1GB', synchronous_commit: 'on' };

describe('A restored backup taken during updates', () => {
  let postgres: TemporaryPostgres;
  let setting: FaultSetting;
  let restored: RestoredPostgres | undefined;
  beforeAll(async () => {
    postgres = await startTemporaryPostgres({ postgresSettings: KEEP_LOG });
    setting = await FaultSetting.open({ postgres });
    await setting.startInstances({});
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    await restored?.stop();
    await setting.close();
  });

  it(
    'has every write acknowledged before it completed, verifies, and accepts the same keys, tokens and cursors',
    async () => {
      const arrange = await setting.enterWorkspace();
      await setting.import(recordsFile());
      const assets = await setting.assets(arrange, ASSETS);
      const credentials = await arrange.anApplication(setting.workspace);
      const before = new ApiClient(setting.origins[0] as string, setting.token);
      const page = await before.page('/v1/inventory/assets', { pageSize: '5' });
      const rest = { pageCursor: page.pageInfo.endCursor as string, pageSize: '5' };
      const nextPage = await before.page('/v1/inventory/assets', rest);

      const updates = new Updates(setting, assets);
      updates.begin();
      await isSealed();
      const known = new Set(updates.acknowledged);
      const instant = new Date().toISOString();
      const pastOf = async (client: ApiClient): Promise<unknown[]> =>
        Promise.all(assets.map(async (id) => (await client.get(`/v1/inventory/assets/${id}?asOf=${instant}`)).body));
      const past = await pastOf(before);
      const { resumeCursor: early } = (await before.get('/v1/inventory/changes?since=now')).body;
      const backup = await takeBackup(postgres);
      await delay(300);
      await updates.end();
      const { resumeCursor: late } = (await before.get('/v1/inventory/changes?since=now')).body;
      expect(known.size).toBeGreaterThan(0);
      expect(updates.acknowledged.size).toBeGreaterThan(known.size);
      restored = await startRestored(backup);

      const { databaseUrl, migrationDatabaseUrl } = restored;
      expect(await missing(restored, known)).toEqual([]);
      const environment = {
        DATABASE_URL: databaseUrl,
        MIGRATION_DATABASE_URL: migrationDatabaseUrl,
        LOCAL_DIR: process.env['TEST_LOCAL_DIR'] as string,
      };
      const status = await admin(environment, 'status', '--deep', '--json');
      expect(status).toMatchObject({ ok: true, counters: { wrong: [], repaired: 0 } });
      const audit = await admin(environment, 'audit', 'verify', '--json');
      expect(audit).toMatchObject({ ok: true, firstBad: null });
      expect(audit['sealed']).toBeGreaterThan(0);
      tell('restored backup', { records: RECORDS, acknowledged: known.size, sealed: String(audit['sealed']) });

      const [instance] = await setting.startInstances({ DATABASE_URL: databaseUrl, REDIS_URL: '' });
      const after = new ApiClient(instance?.origin as string, setting.token);
      expect((await after.page('/v1/inventory/assets', rest)).results.map(({ id }) => id)).toEqual(
        nextPage.results.map(({ id }) => id),
      );
      expect(await pastOf(after)).toEqual(past);
      const replayed = updates.acknowledgedOf([...known][0] as string);
      const again = await after.patch(replayed.operation.path, replayed.operation.body, {
        'Idempotency-Key': replayed.operation.key,
      });
      expect([again.status, again.headers.get('Idempotent-Replayed'), again.text]).toEqual([
        200,
        'true',
        replayed.text,
      ]);
      expect((await after.patch(replayed.operation.path, { description: 'restored' })).status).toBe(200);
      const changesFrom = (cursor: unknown) => after.get(`/v1/inventory/changes?pageCursor=${String(cursor)}`);
      expect((await changesFrom(early)).status).toBe(200);
      expect(await changesFrom(late)).toMatchObject({ status: 410, body: { errors: [{ code: 'diverged' }] } });
      const { clientId, clientSecret } = credentials;
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      expect((await after.requestToken(form)).status).toBe(200);
    },
    sized({ short: 3, long: 5 }) * MINUTE,
  );

  function recordsFile(): string {
    const file = setting.file('records.ndjson');
    const record = (n: number): string =>
      JSON.stringify({ categoryKey: 'CUSTOM', externalId: `r-${n}`, name: `record ${n}` });
    writeFileSync(file, Array.from({ length: RECORDS }, (_, n) => record(n)).join('\n'));
    return file;
  }

  /** Waits until the sealer has sealed some events. */
  async function isSealed(): Promise<void> {
    for (let sealed = 0; sealed === 0; await delay(100)) {
      const { rowCount } = await setting.admin.query('SELECT FROM audit_event WHERE sequence IS NOT NULL LIMIT 1');
      sealed = rowCount ?? 0;
    }
  }

  async function missing(
    { superuserUrl, databaseUrl }: RestoredPostgres,
    keys: ReadonlySet<string>,
  ): Promise<string[]> {
    const url = new URL(superuserUrl);
    url.pathname = new URL(databaseUrl).pathname;
    const client = new Client({ connectionString: url.toString() });
    await client.connect();
    const { rows } = await client.query<{ hash: string }>(
      `SELECT encode(key_hash, 'hex') AS hash FROM idempotency_record`,
    );
    await client.end();
    const kept = new Set(rows.map(({ hash }) => hash));
    return [...keys].filter((key) => !kept.has(keyHashOf(key)));
  }
});

/** Several senders update assets until stopped. */
class Updates {
  /** Keys of acknowledged updates. */
  readonly acknowledged = new Set<string>();
  private readonly senders: Promise<void>[] = [];
  private over = false;
  private sent = 0;

  constructor(
    private readonly setting: FaultSetting,
    private readonly assets: readonly string[],
  ) {}

  begin(): void {
    for (let n = 0; n < SENDERS; n += 1) this.senders.push(this.send());
  }

  async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.senders);
  }

  acknowledgedOf(key: string): { readonly operation: Operation; readonly text: string } {
    const history = this.setting.log.read().get(key);
    const response = history?.attempts.find((attempt) => attempt.kind === 'response');
    if (!history || response?.kind !== 'response') throw new Error(`${key} was not acknowledged`);
    return { operation: history.operation, text: response.text };
  }

  private async send(): Promise<void> {
    const client = this.setting.client();
    while (!this.over) {
      const n = (this.sent += 1);
      const asset = this.assets[n % this.assets.length] as string;
      const body = { description: `change ${n}` };
      const operation = { key: randomUUID(), assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
      const { status } = await client.settle(operation, 0);
      if (status === 200) this.acknowledged.add(operation.key);
      await delay(20);
    }
  }
}

async function admin(environment: Record<string, string>, ...words: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await new RunningCommand('apps/admin/run.mjs', words, environment).finished;
  if (exitCode !== 0) throw new Error(`admin ${words.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}
