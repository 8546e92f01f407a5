import { Client } from 'pg';
import { assetId, newestOf, workspaceId } from '#libs/kernel';
import { Database, assertRuntimeRole, tenantPolicy } from '#libs/platform/database';
import { arrangeEveryResource } from '../contract/every-resource';
import { openDataSource, operatorDataSource } from '../support/database-connection';
import { assetRepositoryOn } from '../support/asset-repository';
import { type TestApp, startApp } from '../support/start-app';

/** Holds no tenant's data. */
const WITHOUT_TENANTS = ['migration'];

describe('Row-level security', () => {
  let app: TestApp;
  let ours: string;
  let theirs: string;
  let api: Client;
  let console: Client;
  /** Tables of the console, which the API's role may not even read. */
  const clientOf = (table: string): Client => (['person', 'console_session'].includes(table) ? console : api);

  beforeAll(async () => {
    app = await startApp();
    ours = await app.arrange.aWorkspace();
    theirs = await app.arrange.aWorkspace();
    for (const workspace of [ours, theirs]) {
      for (let n = 0; n < 2; n += 1) await app.arrange.anApplication(workspace);
      await arrangeEveryResource(app, workspace);
      await app.arrange.change(
        workspace,
        `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
         SELECT workspace_id, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id) WHERE workspace_id = $1`,
        [workspace],
      );
      for (const unused of [
        `INSERT INTO audit_head VALUES ($1, 1, sha256(''), sha256(''))`,
        `WITH person AS (INSERT INTO person (workspace_id, email, name, role) VALUES ($1, 'a@b.example', 'A', 'viewer')
                         RETURNING id)
         INSERT INTO console_session (workspace_id, digest, person_id) SELECT $1, sha256(''), id FROM person`,
        `INSERT INTO day_count VALUES ($1, '2026-01-02', '[]', '[]')`,
        `INSERT INTO audit_seal VALUES ($1, 1, 1, sha256(''), now(), sha256(''))`,
        `INSERT INTO application_key (workspace_id, client_id, kid, algorithms, jwk)
         SELECT workspace_id, client_id, 'k', '{ES256}', '{}' FROM application WHERE workspace_id = $1`,
        `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
         SELECT workspace_id, client_id, 'https://issuer.example', 's' FROM application WHERE workspace_id = $1`,
        `INSERT INTO used_assertion SELECT $1, client_id, '', now() FROM application WHERE workspace_id = $1`,
      ]) {
        await app.arrange.change(workspace, unused, [workspace]);
      }
    }
    api = new Client({ connectionString: app.database.databaseUrl });
    console = new Client({ connectionString: app.database.consoleDatabaseUrl });
    await Promise.all([api.connect(), console.connect()]);
  });
  afterAll(async () => {
    await Promise.all([api.end(), console.end()]);
    await app.stop();
  });

  const tables = async (): Promise<string[]> => {
    const { rows } = await app.database.admin.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    );
    return rows.map(({ relname }) => relname).filter((name) => !WITHOUT_TENANTS.includes(name));
  };

  it('is enabled and forced on every table', async () => {
    const { rows } = await app.database.admin.query<{ relname: string }>(
      `SELECT relname FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
          AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY relname`,
    );
    expect(rows.map(({ relname }) => relname)).toEqual(WITHOUT_TENANTS);
  });

  it('puts the workspace first in every primary and unique key and in every index of a tenant table', async () => {
    const { rows } = await app.database.admin.query<{ index: string; first: string }>(
      `SELECT i.indexrelid::regclass::text AS index, a.attname AS first
         FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
         LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
        WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT IN ('workspace', 'migration')`,
    );
    const others = rows.filter(({ first }) => first !== 'workspace_id').map(({ index }) => index);
    // Exceptions: a token request and a sign-in look up the client id or the person before the workspace is known, and
    // the purge of expired records works across workspaces.
    const ofPeople = ['person_by_account', 'person_by_address'];
    const excepted = ['application_client_id_key', 'idempotency_record_expiry', ...ofPeople];
    expect(others.sort()).toEqual(excepted);
  });

  it("prevents functions with the owner's rights from using a temporary table as ours", async () => {
    const { rows } = await app.database.admin.query<{ name: string; config: string[] | null; public: boolean }>(
      `SELECT proname AS name, proconfig AS config, has_function_privilege('public', oid, 'EXECUTE') AS public
         FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(6);
    for (const { name, config, public: everybody } of rows) {
      expect([name, config?.find((entry) => entry.startsWith('search_path='))]).toEqual([
        name,
        'search_path=pg_catalog, public, pg_temp',
      ]);
      expect([name, everybody]).toEqual([name, false]);
    }
    await expect(api.query('CREATE TEMPORARY TABLE facet_count (n int)')).rejects.toThrow('permission denied');
  });

  it('gives the runtime role nothing outside a scope', async () => {
    for (const table of await tables()) {
      const { rows } = await clientOf(table).query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`);
      expect([table, rows[0]?.n]).toEqual([table, '0']);
    }
  });

  it("shows the runtime role one workspace's rows of every table and view", async () => {
    const views = [
      'visible_computer',
      'changed_computer',
      'computer_count',
      'computer_source_count',
      'visible_computer_count',
      ...['former_asset', 'former_computer', 'known_asset'],
    ];
    for (const relation of [...(await tables()), ...views]) {
      const column = relation === 'workspace' ? 'id' : 'workspace_id';
      const client = clientOf(relation);
      await client.query('BEGIN');
      await client.query(`SELECT set_config('app.workspace_id', $1, true)`, [ours]);
      const { rows } = await client.query<{ w: string }>(`SELECT DISTINCT ${column} AS w FROM ${relation}`);
      await client.query('COMMIT');
      expect([relation, rows.map(({ w }) => w)]).toEqual([relation, [ours]]);
    }
  });

  it('shows a token request its own client alone, before the workspace is known', async () => {
    const text = 'SELECT client_id AS id FROM application WHERE workspace_id = $1 ORDER BY client_id LIMIT 1';
    const { id } = (await app.database.admin.query<{ id: string }>(text, [ours])).rows[0] ?? { id: '' };
    const ofClients = ['application', 'application_key', 'application_trust', 'used_assertion'];
    for (const table of await tables()) {
      const client = clientOf(table);
      await client.query('BEGIN');
      await client.query(`SELECT set_config('app.client_id', $1, true)`, [id]);
      const column = ofClients.includes(table) ? 'client_id' : `'of others'`;
      const { rows } = await client.query<{ of: string }>(`SELECT ${column} AS of FROM ${table}`);
      await client.query('COMMIT');
      expect([table, rows]).toEqual([table, ofClients.includes(table) ? [{ of: id }] : []]);
    }
  });

  it('refuses to remember an assertion in another workspace', async () => {
    const text = 'SELECT client_id AS id FROM application WHERE workspace_id = $1 LIMIT 1';
    const { id } = (await app.database.admin.query<{ id: string }>(text, [theirs])).rows[0] ?? { id: '' };
    await api.query('BEGIN');
    await api.query(`SELECT set_config('app.workspace_id', $1, true)`, [ours]);
    const remember = `INSERT INTO used_assertion VALUES ($1, $2, 'x', now())`;
    await expect(api.query(remember, [theirs, id])).rejects.toMatchObject({ code: '42501' });
    await api.query('ROLLBACK');
  });

  it('returns 0 rows for a query without a tenant filter that names a foreign id', async () => {
    await api.query('BEGIN');
    await api.query(`SELECT set_config('app.workspace_id', $1, true)`, [ours]);
    const { rows } = await api.query('SELECT id FROM asset WHERE workspace_id = $1', [theirs]);
    await api.query('COMMIT');
    expect(rows).toEqual([]);
  });

  it('ends the scope with its transaction, also on the next use of the connection', async () => {
    const dataSource = await openDataSource(app.database.databaseUrl);
    try {
      const repository = assetRepositoryOn(new Database(dataSource));
      const page = await repository.list(newestOf(workspaceId(ours)), {}, { size: 1, after: null });
      expect(page.totalCount).toBe(4);
      const [after] = await dataSource.query<{ n: string; scope: string | null }[]>(
        `SELECT count(*) AS n, current_setting('app.workspace_id', true) AS scope FROM asset`,
      );
      expect(after).toEqual({ n: '0', scope: '' });
      const foreign = page.items[0]?.id ?? assetId('');
      expect(await repository.find(newestOf(workspaceId(theirs)), foreign)).toBeNull();
    } finally {
      await dataSource.destroy();
    }
  });

  it('keeps the runtime role from changing what it only reads, and from the schema', async () => {
    for (const sql of [
      `INSERT INTO workspace (slug, name) VALUES ('x', 'x')`,
      `UPDATE application SET scopes = '{all:write}'`,
      `UPDATE application SET secret_digest = ''`,
      'DELETE FROM application',
      'UPDATE facet_count SET n = 0',
      'DELETE FROM asset',
      'DELETE FROM audit_event',
      'UPDATE audit_event SET client_id = client_id',
      'INSERT INTO migration (timestamp, name) VALUES (1, $$x$$)',
      'ALTER TABLE asset DISABLE ROW LEVEL SECURITY',
      'CREATE TABLE mine (id int)',
      'SELECT FROM person',
      'SELECT FROM console_session',
      `SELECT console_memberships('', '', '')`,
    ]) {
      await expect(api.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
  });

  it("keeps the console's role from what its pages do not do", async () => {
    for (const sql of [
      `INSERT INTO workspace (slug, name) VALUES ('x', 'x')`,
      'DELETE FROM application',
      'DELETE FROM person',
      'DELETE FROM asset',
      'UPDATE audit_event SET client_id = client_id',
      'SELECT FROM idempotency_record',
      'SELECT workspaces_to_extend()',
      'UPDATE application SET name = name',
      'UPDATE application SET client_id = client_id',
      'UPDATE application SET old_audience = true',
      'UPDATE application SET issued_at = now()',
      'UPDATE application_key SET jwk = jwk',
      'UPDATE application_trust SET keys = keys',
      'UPDATE person SET id = id',
      'UPDATE console_session SET person_id = person_id',
      'UPDATE import_run SET who = who',
      'UPDATE asset SET source = source',
      'UPDATE computer SET asset_id = asset_id',
      'UPDATE tag_key SET key = key',
      // Only feeds and the past read them.
      ...[
        'changed_computer',
        'former_computer',
        'visible_computer_count',
        'former_asset',
        'known_asset',
        'change_head',
      ].map((relation) => `SELECT FROM ${relation}`),
    ]) {
      const refused = console.query(sql).then(() => sql);
      await expect(refused).rejects.toMatchObject({ code: '42501' });
    }
  });

  it("lets the console's role lock what an import holds while it repeats a batch", async () => {
    await expect(console.query('SELECT FROM asset FOR NO KEY UPDATE')).resolves.toHaveProperty('rowCount', 0);
    await expect(console.query('SELECT FROM tag_key FOR KEY SHARE')).resolves.toHaveProperty('rowCount', 0);
  });

  it('separates rows of a new table, even from their owner unless the migration allows it', async () => {
    const owner = new Client({ connectionString: app.database.migrationDatabaseUrl });
    await owner.connect();
    const role = new URL(app.database.databaseUrl).username;
    const rowsOf = async (client: Client, table: string, workspace: string): Promise<string[]> => {
      await client.query('BEGIN');
      await client.query(`SELECT set_config('app.workspace_id', $1, true)`, [workspace]);
      const { rows } = await client.query<{ workspace_id: string }>(`SELECT workspace_id FROM ${table}`);
      await client.query('COMMIT');
      return rows.map((row) => row.workspace_id);
    };
    try {
      await owner.query(
        `CREATE TABLE note (workspace_id uuid); ${tenantPolicy('note')};
         CREATE TABLE open_note (workspace_id uuid); ${tenantPolicy('open_note', { ownerSeesAll: true })}`,
      );
      for (const table of ['note', 'open_note']) {
        await owner.query(`GRANT SELECT, INSERT ON ${table} TO ${role}`);
        await app.database.admin.query(`INSERT INTO ${table} VALUES ($1), ($2)`, [ours, theirs]);

        expect(await rowsOf(api, table, '')).toEqual([]);
        expect(await rowsOf(api, table, ours)).toEqual([ours]);
        await expect(api.query(`INSERT INTO ${table} VALUES ($1)`, [theirs])).rejects.toMatchObject({ code: '42501' });
      }
      expect(await rowsOf(owner, 'note', '')).toEqual([]);
      expect(await rowsOf(owner, 'open_note', '')).toEqual([ours, theirs]);
    } finally {
      await owner.query('DROP TABLE IF EXISTS note, open_note');
      await owner.end();
    }
  });

  it('is required at the start: production refuses a role that owns the tables', async () => {
    const asOwner = await operatorDataSource(app.database);
    try {
      await expect(assertRuntimeRole(asOwner, true, () => undefined)).rejects.toThrow('must be none of these');
      const warnings: string[] = [];
      await assertRuntimeRole(asOwner, false, (warning) => warnings.push(warning));
      expect(warnings).toHaveLength(1);
    } finally {
      await asOwner.destroy();
    }
  });
});
