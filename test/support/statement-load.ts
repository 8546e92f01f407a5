import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

/** Statements that a running release executes on a table, as short transactions. */
const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  workspace: [
    `INSERT INTO workspace (id, slug, name) VALUES ($1::uuid, 'w-' || $1, 'load') ON CONFLICT DO NOTHING`,
    'SELECT count(*) FROM workspace WHERE id = $1::uuid',
  ],
  application: [
    `INSERT INTO application (workspace_id, client_id, name, secret_digest, scopes)
     SELECT id, 'ci_' || id, 'load', 'x', '{}' FROM workspace WHERE id = $1::uuid ON CONFLICT DO NOTHING`,
    'UPDATE application SET generation = generation + 1 WHERE workspace_id = $1::uuid',
  ],
  asset: [
    `INSERT INTO asset (workspace_id, source, external_id, sub_key, name)
     SELECT id, 'load', gen_random_uuid()::text, 12, 'load' FROM workspace WHERE id = $1::uuid`,
    // Locks rows in the order of their ids, like every writer.
    `UPDATE asset SET description = 'load', version = version + 1
       FROM (SELECT id FROM asset WHERE workspace_id = $1::uuid AND id % 7 = 0 ORDER BY id FOR NO KEY UPDATE) AS locked
      WHERE asset.workspace_id = $1::uuid AND asset.id = locked.id`,
    'SELECT count(*) FROM asset WHERE workspace_id = $1::uuid AND facet IS NOT NULL',
  ],
  facet_count: ['SELECT sum(n) FROM facet_count WHERE workspace_id = $1::uuid'],
  idempotency_record: [
    `INSERT INTO idempotency_record (workspace_id, application_id, key_hash, fingerprint, status, body, expires_at)
     VALUES ($1::uuid, $1::uuid, gen_random_uuid()::text::bytea, 'x', 200, '', now())`,
    'SELECT purge_idempotency_records(10)',
  ],
  audit_event: ['SELECT count(*) FROM audit_event WHERE workspace_id = $1::uuid', 'SELECT workspaces_to_seal()'],
  visible_computer: ['SELECT count(*) FROM visible_computer WHERE workspace_id = $1::uuid'],
};

/** Runs reads and writes on all existing tables over several connections, and records how long each took. */
export class StatementLoad {
  statements = 0;
  longestMs = 0;
  readonly faults: string[] = [];
  private over = false;
  private readonly loops: Promise<void>[] = [];
  private readonly tables = new Set<string>();

  constructor(private readonly url: string) {}

  begin(connections: number): void {
    for (let n = 0; n < connections; n += 1) this.loops.push(this.loop());
  }

  async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.loops);
  }

  /** Tables and views that were used. */
  get used(): string[] {
    return [...this.tables].sort();
  }

  private async loop(): Promise<void> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    const workspace = randomUUID();
    await client.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    while (!this.over) {
      for (const table of await this.tablesOf(client)) {
        for (const sql of STATEMENTS[table] ?? []) await this.run(client, table, sql, workspace);
      }
      await delay(10);
    }
    await client.end();
  }

  /** A migration may create its tables in one transaction, so they all appear at once. */
  private async tablesOf(client: Client): Promise<string[]> {
    const { rows } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY ($1)`,
      [Object.keys(STATEMENTS)],
    );
    const there = new Set(rows.map(({ name }) => name));
    return Object.keys(STATEMENTS).filter((table) => there.has(table));
  }

  private async run(client: Client, table: string, sql: string, workspace: string): Promise<void> {
    const since = performance.now();
    try {
      await client.query(sql, sql.includes('$1') ? [workspace] : []);
    } catch (error) {
      const { message, detail = '' } = error as Error & { readonly detail?: string };
      this.faults.push(`${table}: ${message} ${detail}`);
    }
    this.statements += 1;
    this.tables.add(table);
    this.longestMs = Math.max(this.longestMs, performance.now() - since);
  }
}
