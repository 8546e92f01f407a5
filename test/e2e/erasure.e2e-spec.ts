import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdminOn } from '../support/admin-command';
import type { ApiClient } from '../support/api-client';
import { type TestConsole, startConsole } from '../support/console-setting';
import { type TestApp, startAppOn } from '../support/start-app';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

describe('Names and addresses', () => {
  let database: TestDatabase;
  let app: TestApp;
  let console: TestConsole;
  let workspace: { id: string; slug: string };
  let client: ApiClient;
  let directory: string;
  /** In no other row of the database. */
  let name: string;
  let email: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    app = await startAppOn(database);
    console = await startConsole({}, database);
    directory = mkdtempSync(join(tmpdir(), 'compliance-erasure-'));
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await console.stop();
    await app.stop();
    await database.drop();
  });
  beforeEach(async () => {
    name = `Ada ${randomBytes(8).toString('hex')}`;
    email = `${randomBytes(8).toString('hex')}@example.com`;
    workspace = await console.aWorkspace();
    client = await app.arrange.aClient(workspace.id);
  });

  /** Tables with a row that holds the name or the address. */
  const tablesThatNameThem = async (): Promise<string[]> => {
    const { rows } = await database.admin.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`,
    );
    const found: string[] = [];
    for (const { name: table } of rows) {
      const holding = `SELECT FROM ${table} AS one WHERE one::text ILIKE ANY ($1) LIMIT 1`;
      const { rowCount } = await database.admin.query(holding, [[`%${name}%`, `%${email}%`]]);
      if (rowCount !== 0) found.push(table);
    }
    return found;
  };
  const importRecords = async (...records: object[]): Promise<void> => {
    const file = join(directory, 'hr.ndjson');
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    await runAdminOn(database, ['import', '--workspace', workspace.slug, '--source', 'hr', file]);
  };
  const admin = (...words: string[]) => console.admin(...words, '--workspace', workspace.slug, '--yes');
  const logged = () => JSON.stringify([app.logLines, console.logLines]);

  it('of an employee who left and was erased are in no table and in no log', async () => {
    const employee = { categoryKey: 'EMPLOYEE', externalId: 'e-1', name, email };
    const things = ['owned', 'given'].map((externalId) => ({ categoryKey: 'CUSTOM', externalId, name: externalId }));
    // The reasons that a record of the import keeps name members and no values.
    const faulty = [
      { categoryKey: 'CUSTOM', externalId: 'tagged', name: 'tagged', tags: [{ key: name }] },
      { categoryKey: name, externalId: email, name: 'of no category', ownerId: email, createdAt: name },
    ];
    await importRecords(employee, { ...things[0], ownerEmail: email.toUpperCase() }, things[1] ?? {}, ...faulty);
    const listed = (await client.get(`/v1/inventory/assets?email=${email}`)).body as { results: { id: string }[] };
    const id = listed.results[0]?.id ?? '';
    const owned = `/v1/inventory/assets?ownerId=${id}&expand=owner`;
    expect((await client.get(owned)).text).toContain(email);
    const given = (await client.get('/v1/inventory/assets?externalId=given')).body as { results: { id: string }[] };
    const change = { ownerEmail: email };
    expect((await client.patch(`/v1/inventory/assets/${given.results[0]?.id}`, change)).status).toBe(200);
    await importRecords({ ...employee, name: `${name} the Second` });
    await importRecords({ ...employee, visibility: 'HIDDEN' });
    expect(await tablesThatNameThem()).toEqual(['asset', 'asset_version']);

    await admin('history', 'erase', '--employee', id);

    expect(await tablesThatNameThem()).toEqual([]);
    expect((await client.get(`/v1/inventory/assets/${id}/history`)).status).toBe(200);
    expect(logged()).not.toMatch(new RegExp(`${name}|${email}`, 'i'));
  });

  it('of a person who was erased are in no table and in no log', async () => {
    await console.signIn(workspace.slug, 'admin');
    const person = await console.signIn(workspace.slug, 'admin', email);
    await database.admin.query(
      `UPDATE person SET name = $2, issuer = 'https://id.example', subject = $3 WHERE id = $1`,
      [person.personId, name, email],
    );
    const { id } = await app.arrange.anAsset(workspace.id);
    const page = `/inventory/${id}`;
    expect((await person.submit(page, `${page}/description`, { description: 'Reviewed' })).status).toBe(303);
    expect((await person.get('/inventory/download')).status).toBe(200);
    expect(await tablesThatNameThem()).toEqual(['person']);

    await admin('people', 'erase', person.personId);

    expect(await tablesThatNameThem()).toEqual([]);
    expect((await person.get('/')).status).toBe(303);
    expect(logged()).not.toMatch(new RegExp(`${name}|${email}`, 'i'));
  });
});
