/**
 * @needs curl
 * @needs python3
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { type Example, LANGUAGES, type Language, examplesOf } from '../support/doc-examples';
import { type Meddling, MeddlingProxy } from '../support/meddling-proxy';
import { Sealing } from '../support/sealing';
import { SPECIFIED_LIMITS, type TestApp, startApp, startInstance } from '../support/start-app';

const PAGES = [
  ...['getting-started.md', 'authentication.md', 'pagination.md', 'filters.md', 'updates.md', 'bulk-updates.md'],
  ...['idempotency.md', 'concurrent-updates.md', 'rate-limits.md', 'errors.md', 'contract.md', 'versioning.md'],
  ...['streams.md', 'changes.md', 'read-the-audit.md'],
];
const NAMES = [
  'start',
  'token',
  'list',
  'filter',
  'get',
  'update',
  'bulk',
  'updates',
  'if-match',
  'limits',
  'errors',
  'stream',
  'mirror',
  'audit',
];
/** Lines that set the environment variables of the examples. */
const SETS_ENVIRONMENT = /^export /;

const examples = PAGES.flatMap(examplesOf);
const ASSETS = 106;

/** Runs an example with its own program in a directory. Fails when the program fails. */
async function runExample(
  language: Language,
  name: string,
  directory: string,
  environment: Record<string, string>,
): Promise<{ stdout: string; stderr: string }> {
  const { code } = examples.find((one) => one.name === name && one.language === language) as Example;
  const [program, extension] = { sh: ['sh', 'sh'], js: [process.execPath, 'mjs'], python: ['python3', 'py'] }[
    language
  ] as [string, string];
  const file = join(directory, `${name}.${extension}`);
  writeFileSync(file, code);
  const env = { PATH: searchPath(), HOME: process.env['HOME'], ...environment };
  return promisify(execFile)(program, [file], { cwd: directory, env, timeout: 100_000, maxBuffer: 64 * 1024 * 1024 });
}

const idsOf = (page: string) => (JSON.parse(page) as { results: { id: string }[] }).results.map(({ id }) => id);

describe('The examples in docs/', () => {
  it('exist for each task in curl, JavaScript and Python', () => {
    const named = examples.flatMap(({ name, language }) => (name === null ? [] : [`${name} ${language}`]));
    expect(named.sort()).toEqual(NAMES.flatMap((name) => LANGUAGES.map((language) => `${name} ${language}`)).sort());
    const others = examples.filter(({ name }) => name === null).flatMap(({ code }) => code.trim().split('\n'));
    expect(others.filter((line) => !SETS_ENVIRONMENT.test(line))).toEqual([]);
  });
});

let app: TestApp;
/** An instance with a burst of two reads. */
let limited: TestApp;
let proxy: MeddlingProxy;
let sealing: Sealing;
beforeAll(async () => {
  demandProgram('curl');
  demandProgram('python3');
  app = await startApp();
  limited = await startInstance(app, { RATE_LIMIT_READ: '60/2' });
  proxy = await MeddlingProxy.to(app.origin);
  sealing = await Sealing.of(app);
}, 240_000);
afterAll(async () => {
  await sealing.close();
  await proxy.close();
  await limited.stop();
  await app.stop();
});

describe.each(LANGUAGES)('The examples in %s', (language: Language) => {
  let workspace: string;
  let directory: string;
  let environment: Record<string, string>;
  let id: string;
  /** Superseded when the other examples request their tokens. */
  let started: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-examples-'));
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, ASSETS - 6);
    const { id: owner } = await app.arrange.anEmployee(workspace);
    for (const name of ['logs', 'backups', 'queue']) {
      await app.arrange.anAsset(workspace, { type: 'CLOUD_STORAGE_BUCKET', name });
    }
    await app.arrange.anAsset(workspace, { type: 'CLOUD_STORAGE_BUCKET', name: 'owned', ownerId: owner });
    await app.arrange.aTagKey(workspace, 'env');
    id = (await app.arrange.anAsset(workspace, { name: 'printer' })).id;
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    environment = { BASE_URL: proxy.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, ID: id };
    started = await run('start');
    environment['TOKEN'] = (await run('token')).trim();
  });
  beforeEach(() => {
    proxy.meddling = {};
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const run = async (name: string, overrides: Record<string, string> = {}): Promise<string> => {
    const { stdout, stderr } = await runExample(language, name, directory, { ...environment, ...overrides });
    // curl reports its retries on stderr.
    if (language !== 'sh') expect(stderr).toBe('');
    return stdout;
  };
  const asset = async (of = id) => (await app.client(environment['TOKEN']).get(`/v1/inventory/assets/${of}`)).body;
  const audited = async () => {
    const { rows } = await app.database.admin.query('SELECT 1 FROM audit_event WHERE asset_id = $1', [id]);
    return rows.length;
  };

  /** Names by id, as the program keeps them in its directory. */
  const mirrored = (): Map<string, string> => {
    type Assets = Record<string, { name: string } | null>;
    const text = (name: string): string => readFileSync(join(directory, name), 'utf8');
    const pages = (language === 'sh' ? text('changes.ndjson').trim().split('\n') : []).map(
      (line) => JSON.parse(line) as { results: { id: string; asset: { name: string } | null }[] },
    );
    const assets: Assets =
      language === 'sh'
        ? Object.fromEntries(pages.flatMap(({ results }) => results).map((change) => [change.id, change.asset]))
        : (JSON.parse(text('mirror.json')) as { assets: Assets }).assets;
    return new Map(Object.entries(assets).flatMap(([key, asset]) => (asset ? [[key, asset.name] as const] : [])));
  };

  it('get the first three assets, starting from credentials', () => {
    const { results, pageInfo } = JSON.parse(started) as { results: object[]; pageInfo: object };
    expect(results).toHaveLength(3);
    expect(pageInfo).toMatchObject({ hasNextPage: true, totalCount: ASSETS });
  });

  it('get a valid token', async () => {
    expect(environment['TOKEN']).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await asset())['name']).toBe('printer');
  });

  it('list every asset exactly once, over two pages', async () => {
    const lines = (await run('list')).trim().split('\n');
    const ids = language === 'sh' ? lines.flatMap(idsOf) : lines.map((line) => line.split(' ')[0]);
    const { rows } = await app.database.admin.query<{ id: string }>(
      'SELECT public_id AS id FROM asset WHERE workspace_id = $1',
      [workspace],
    );
    expect(rows).toHaveLength(ASSETS);
    expect([...ids].sort()).toEqual(rows.map((row) => row.id).sort());
  });

  it('read every asset from a stream and resume it after a cut', async () => {
    let cuts = 0;
    if (language !== 'sh') proxy.meddling = { cut: () => (cuts += 1) === 1 };

    const lines = (await run('stream')).trim().split('\n');

    if (language === 'sh') expect(lines).toEqual([`{"type":"end","count":${ASSETS}}`]);
    else expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(ASSETS);
  });

  it('mirror the inventory, and read only changes when run again', async () => {
    const removed = await app.arrange.anAsset(workspace, { name: 'soon removed' });
    await run('mirror');
    expect(mirrored().size).toBe(ASSETS + 1);
    await app.arrange.change(workspace, `UPDATE asset SET name = 'renamed' WHERE public_id = $1`, [id]);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 2 WHERE public_id = $1', [removed.id]);
    const before = app.logLines.length;

    await run('mirror');

    expect(mirrored().size).toBe(ASSETS);
    expect(mirrored().get(id)).toBe('renamed');
    expect(app.logLines.slice(before).filter(({ route }) => route === '/v1/inventory/changes')).toHaveLength(1);
    await app.arrange.change(workspace, `UPDATE asset SET name = 'printer' WHERE public_id = $1`, [id]);
  });

  it('read the audit, and only what is new when run again', async () => {
    const read = (): string[] => {
      type Event = { action: string; target: { id: string } };
      return readFileSync(join(directory, 'audit.ndjson'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Event | { results: Event[] })
        .flatMap((line) => ('results' in line ? line.results : [line]))
        .filter(({ action }) => action === 'asset.updated')
        .map(({ target }) => target.id);
    };
    const updated = async (): Promise<string> => {
      const other = (await app.arrange.anAsset(workspace)).id;
      const writer = await app.arrange.aClient(workspace);
      expect((await writer.patch(`/v1/inventory/assets/${other}`, { description: 'Read' })).status).toBe(200);
      await app.arrange.change(workspace, 'UPDATE asset SET visibility = 2 WHERE public_id = $1', [other]);
      await sealing.seal();
      return other;
    };
    const first = await updated();
    await run('audit');
    expect(read()).toEqual([first]);
    const second = await updated();

    await run('audit');

    expect(read()).toEqual([first, second]);
  });

  it('fail when they cannot read what they stored, and do not begin again', async () => {
    const own = mkdtempSync(join(tmpdir(), 'compliance-examples-'));
    const stored = { mirror: language === 'sh' ? 'cursor' : 'mirror.json', audit: 'audit.cursor' };
    for (const [name, file] of Object.entries(stored)) {
      mkdirSync(join(own, file));
      const failure = { code: expect.any(Number) as number };
      await expect(runExample(language, name, own, environment)).rejects.toMatchObject(failure);
    }
    expect(readdirSync(own)).not.toEqual(expect.arrayContaining([expect.stringMatching(/ndjson$|new$/)]));
    rmSync(own, { recursive: true });
  });

  it('fail when a page is refused or its response is lost', async () => {
    let token = environment['TOKEN'] as string;
    let pages = 0;
    const secondPage: Meddling[] = [
      { cut: ({ method }) => method === 'GET' && (pages += 1) === 2 },
      {
        before: async ({ method }) => {
          if (method === 'GET' && (pages += 1) === 2) token = (await run('token', { BASE_URL: app.origin })).trim();
        },
      },
    ];
    for (const meddling of secondPage) {
      pages = 0;
      proxy.meddling = meddling;
      const failure = await run('list', { TOKEN: token }).catch((error: { code: number; stdout: string }) => error);
      expect(failure).toMatchObject({ code: expect.any(Number) as number });
      // No failure came before the rest of the list.
      expect(pages).toBe(2);
    }
    environment['TOKEN'] = token;
  });

  it('list what their filters select', async () => {
    const said = await run('filter');
    for (const name of ['logs', 'backups', 'queue']) expect(said).toContain(name);
    expect(said).not.toContain('owned');
    expect(said).toMatch(language === 'sh' ? /"totalCount":3}/ : /^3 without an owner\n/);
  });

  it('read one asset and its version', async () => {
    const said = await run('get');
    expect(said).toContain('printer');
    expect(said).toMatch(/"1"/);
  });

  it('update it once when the response is lost', async () => {
    let cuts = 0;
    proxy.meddling = { cut: ({ method }) => method === 'PATCH' && (cuts += 1) === 1 };
    expect(await run('update')).toContain(language === 'sh' ? '200\n' : 'Access logs');
    expect(cuts).toBe(2);
    expect(await audited()).toBe(1);
    expect(await asset()).toMatchObject({
      classification: 'INTERNAL',
      description: 'Access logs',
      tags: [{ key: 'env' }],
    });
  });

  it('update several assets', async () => {
    expect(await run('bulk')).toContain('"successfulUpdates":1');
    expect((await asset())['classification']).toBe('CONFIDENTIAL');
  });

  it('give each asset a change of its own', async () => {
    expect(await run('updates')).toContain('"successfulUpdates":1');
    expect(await asset()).toMatchObject({ description: 'Access logs', tags: [{ key: 'env' }] });
  });

  it('detect a concurrent change', async () => {
    const other = await app.arrange.aClient(workspace);
    let writes = 0;
    proxy.meddling = {
      before: async ({ method }) => {
        if (method !== 'PATCH' || (writes += 1) > 1) return;
        await other.patch(`/v1/inventory/assets/${id}`, { description: 'Theirs.' });
      },
    };
    expect(await run('if-match')).toContain(language === 'python' ? 'Theirs. Reviewed' : '200');
    expect(writes).toBe(2);
    expect((await asset())['description']).toBe(language === 'sh' ? 'Reviewed' : 'Theirs. Reviewed');
  });

  it('wait for Retry-After on 429', async () => {
    const before = limited.logLines.length;
    expect(await run('limits', { BASE_URL: limited.origin })).toBe('CLOUD 4\nCOMPUTER 0\nEMPLOYEE 1\n');
    expect(limited.logLines.slice(before).some(({ status }) => status === 429)).toBe(true);
  });

  it('report the problem', async () => {
    const said = await run('errors');
    for (const word of ['400', 'validation_failed', 'pageSize']) expect(said).toContain(word);
  });
});

it('The lines of docs/history.md show what was true, and count by day', async () => {
  const workspace = await app.arrange.aWorkspace();
  const { id } = await app.arrange.anAsset(workspace, { name: 'printer' });
  const TOKEN = await app.arrange.aToken(workspace);
  const instant = new Date().toISOString();
  const env = { PATH: searchPath(), BASE_URL: app.origin, TOKEN, ID: id };

  const said: string[] = [];
  for (const { code } of examplesOf('history.md')) {
    const lines = code
      .replaceAll('2026-09-30T21:59:59.999Z', instant)
      .replaceAll(/2026-10-\d\d/g, instant.slice(0, 10));
    said.push((await promisify(execFile)('sh', ['-ec', lines], { env, timeout: 100_000 })).stdout);
  }

  const [history = '', then = '', days = ''] = said;
  expect(history).toMatch(/"validFrom".*"name":"printer".*"totalCount":1/);
  expect(then).toMatch(/"name":"printer"[^]*"type":"start"[^]*"name":"printer"[^]*"type":"end","count":1/);
  expect(days).toMatch(/"isFinal":false,"categories".*"isFinal":false,"total":0,"monitored":0/);
});

describe('The examples on a list of more pages than the burst', () => {
  const BURST = 6;
  const PAGES_OF_THE_LIST = BURST + 2;
  // Requests that empty the bucket before the last page, even on a slow machine.
  const SPENT_BEFORE = BURST - 1;
  let own: TestApp;
  let directory: string;
  beforeAll(async () => {
    own = await startApp({ ...SPECIFIED_LIMITS, RATE_LIMIT_READ: `90/${BURST}` });
    directory = mkdtempSync(join(tmpdir(), 'compliance-examples-'));
  }, 240_000);
  afterAll(async () => {
    await own.stop();
    rmSync(directory, { recursive: true });
  });

  // All at once, because each waits for tokens beyond the burst.
  it('read the whole list in every language', async () => {
    const workspace = await own.arrange.aWorkspace();
    await own.arrange.manyAssets(workspace, PAGES_OF_THE_LIST * 100);

    const lists = await Promise.all(
      LANGUAGES.map(async (language) => {
        const TOKEN = await own.arrange.aToken(workspace);
        const spend = () => own.client(TOKEN).get('/v1/inventory/categories');
        await Promise.all(Array.from({ length: SPENT_BEFORE }, spend));
        return runExample(language, 'list', directory, { BASE_URL: own.origin, TOKEN });
      }),
    );

    const idsByLanguage = lists.map(({ stdout }, at) => {
      const lines = stdout.trim().split('\n');
      return LANGUAGES[at] === 'sh' ? lines.flatMap(idsOf) : lines.map((line) => line.split(' ')[0]);
    });
    expect(idsByLanguage.map((ids) => new Set(ids).size)).toEqual(LANGUAGES.map(() => PAGES_OF_THE_LIST * 100));
    const refused = own.logLines.filter(({ status }) => status === 429).map((line) => line['clientId']);
    expect(new Set(refused).size).toBe(LANGUAGES.length);
  });
});
