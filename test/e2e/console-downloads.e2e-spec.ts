import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssetsService } from '#libs/inventory';
import { AuditRecorder } from '#libs/audit/operators';
import { type EveryResource, arrangeEveryResource } from '../contract/every-resource';
import { type ConsoleBrowser, type TestConsole, startConsoleWithApi } from '../support/console-setting';
import type { TestApp } from '../support/start-app';
import { AWAITED_LOCKS } from '../support/test-database';
import { until } from '../support/until';

describe('Downloads of the console', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let arranged: EveryResource;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    ours = await console.aWorkspace('Ours');
    arranged = await arrangeEveryResource(api, ours.id);
  });
  afterAll(() => console.stop());

  const exported = async ({ personId }: { readonly personId: string }) => {
    const text = `SELECT target_id AS list, (changes->'rows'->>'new')::int AS rows FROM audit_event
                   WHERE actor_name = $1 AND action LIKE '%exported' ORDER BY id`;
    return (await console.database.admin.query<{ list: string; rows: number }>(text, [personId])).rows;
  };

  it('give a list as filtered, without formulas', async () => {
    await api.arrange.anAsset(ours.id, { type: 'CUSTOM', name: '=1+1', classification: 'PUBLIC' });
    const person = await console.signIn(ours.slug, 'viewer');

    const [csv, none, computers] = [
      await person.get('/inventory/download?classification=PUBLIC'),
      await person.get('/inventory/download?name=nobody'),
      await person.get('/computers/download?isMonitored=true'),
    ];

    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="assets.csv"');
    expect(csv.text).toMatch(/^"id","name",.*\r\n"[0-9a-f-]{36}","'=1\+1","CUSTOM","PUBLIC",.*\r\n$/);
    expect(none.text.split('\r\n')).toHaveLength(2);
    expect([computers.status, computers.text.startsWith('"id","name","owner"')]).toEqual([200, true]);
    expect((await exported(person)).map(({ list }) => list)).toEqual(['assets', 'assets', 'computers']);
  });

  it.each(['=1', '\t@x', '\n-1', '"+1', 'a;=1'])('have no formula in any column, also for %j', async (formula) => {
    const { id, slug } = await console.aWorkspace();
    const { id: ownerId } = await api.arrange.anEmployee(id, formula, formula);
    const texts = ['source', 'external_id', 'account_id', 'region', 'serial_number', 'operating_system', 'os_version'];
    const columns = {
      ...Object.fromEntries([...texts, 'email'].map((column) => [column, formula])),
      tags: JSON.stringify([{ key: formula, value: formula, readOnly: true }]),
    };
    await api.arrange.anAsset(id, { type: 'COMPUTER', name: formula, description: formula, ownerId, columns });
    const person = await console.signIn(slug, 'viewer');

    const files = [await person.get('/inventory/download'), await person.get('/computers/download')];

    const cells = files.map(({ text }) =>
      [...text.matchAll(/"((?:[^"]|"")*)"(?:,|\r\n)/g)].map(([, cell = '']) => cell),
    );
    const isFormula = (cell: string) => /^[\t\r\n]|(?:^|[;\t\r\n])"*[=+\-@]/.test(cell);
    expect(cells.map((those) => those.filter(isFormula))).toEqual([[], []]);
    // The asset and its owner; the computer.
    expect(cells.map((those) => those.filter((cell) => cell.includes("'")).length)).toEqual([13 + 2, 7]);
  });

  it('read and record nothing for a HEAD', async () => {
    const person = await console.signIn(ours.slug, 'viewer');

    for (const path of ['/inventory/download', '/computers/download', '/audit/download']) {
      const { status } = await fetch(`${console.origin}${path}`, {
        method: 'HEAD',
        headers: { Cookie: person.cookieHeader },
      });
      expect([path, status]).toEqual([path, 200]);
    }

    expect(await exported(person)).toEqual([]);
  });

  it('give the audit as lines of JSON', async () => {
    const person = await console.signIn(ours.slug, 'viewer');
    const id = arranged.ids['/v1/inventory/assets'] ?? '';

    const { text, headers } = await person.get(`/audit/download?assetId=${id}`);

    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { target: { id: string } });
    expect([headers.get('content-type'), events.length]).toEqual(['application/x-ndjson', 2]);
    expect(events.every(({ target }) => target.id === id)).toBe(true);
  });

  it('are one at a time for each person', async () => {
    const person = await console.signIn(ours.slug, 'viewer');
    const holder = await console.database.admin.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE asset IN ACCESS EXCLUSIVE MODE');
      const first = person.get('/inventory/download');
      const waits = `SELECT FROM ${AWAITED_LOCKS} AND relation = $1::regclass`;
      while ((await holder.query(waits, ['asset'])).rowCount === 0) await new Promise((done) => setTimeout(done, 20));

      const second = await person.get('/inventory/download');
      await holder.query('ROLLBACK');

      expect([(await first).status, second.status]).toEqual([200, 429]);
      expect((await person.get('/inventory/download')).status).toBe(200);
    } finally {
      holder.release(true);
    }
  });

  it('leave no event in a workspace that was deleted meanwhile', async () => {
    const gone = await console.aWorkspace();
    const person = await console.signIn(gone.slug, 'viewer');
    const record = Reflect.get(AuditRecorder.prototype, 'recordExport');
    const directory = mkdtempSync(join(tmpdir(), 'compliance-audit-'));
    const recorded = jest.spyOn(AuditRecorder.prototype, 'recordExport');
    recorded.mockImplementationOnce(async function (this: AuditRecorder, ...values) {
      await console.admin('workspaces', 'delete', gone.slug, '--archive', directory, '--yes');
      await record.apply(this, values);
    });

    expect((await person.get('/inventory/download')).status).toBe(200);

    expect(recorded).toHaveBeenCalled();
    rmSync(directory, { recursive: true });
    const left = await console.database.admin.query('SELECT FROM audit_event WHERE workspace_id = $1', [gone.id]);
    expect(left.rowCount).toBe(0);
  });

  it('are four a minute for each person', async () => {
    const [person, other] = [await console.signIn(ours.slug, 'viewer'), await console.signIn(ours.slug, 'viewer')];
    const statuses = [];
    for (let times = 0; times < 5; times += 1) statuses.push((await person.get('/computers/download')).status);

    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect((await other.get('/computers/download')).status).toBe(200);
  });

  it.each([
    [
      'was removed',
      (slug: string, { personId }: Person) => console.admin('people', 'remove', '--workspace', slug, personId),
    ],
    ['signed out', (_: string, person: Person) => person.submit('/', '/sign-out')],
  ])('end before the next page, once their person %s', async (_, end) => {
    const { id, slug } = await console.aWorkspace();
    await api.arrange.manyAssets(id, 600);
    const person = await console.signIn(slug, 'viewer');
    const assets = console.app.get(AssetsService);
    const reader = assets.reader.bind(assets);
    jest.spyOn(assets, 'reader').mockImplementationOnce(async (...asked) => {
      const read = await reader(...asked);
      return async (page) => {
        const found = await read(page);
        if (page.after === null) await end(slug, person);
        return found;
      };
    });

    const isComplete = await person.get('/inventory/download').then(
      () => true,
      () => false,
    );

    expect(isComplete).toBe(false);
    await until(async () => (await exported(person)).length === 1);
    expect(await exported(person)).toEqual([{ list: 'assets', rows: 500 }]);
  });

  it('that nobody reads are closed, and recorded', async () => {
    const { id, slug } = await console.aWorkspace();
    await api.arrange.manyAssets(id, 400);
    const tags = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat('k', 950), 'value', '', 'readOnly', true))
                     FROM generate_series(1, 50) AS n)`;
    await api.arrange.change(id, `UPDATE asset SET tags = ${tags} WHERE workspace_id = $1`, [id]);
    const person = await console.signIn(slug, 'viewer');
    const server = console.app.getHttpServer() as Server;
    const period = server.timeout;
    // A twentieth of the silence that is allowed.
    server.timeout /= 20;

    const { host, port } = new URL(console.origin);
    const socket = connect(Number(port), '127.0.0.1');
    const cookie = person.cookieHeader;
    socket.write(`GET /inventory/download HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\n\r\n`);
    await until(async () => (await exported(person)).length === 1).finally(() => {
      server.timeout = period;
      socket.destroy();
    });

    expect((await exported(person))[0]?.rows).toBeLessThan(400);
    expect((await person.get('/inventory/download')).status).toBe(200);
  });
});

type Person = ConsoleBrowser & { readonly personId: string };
