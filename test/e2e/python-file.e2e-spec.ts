/**
 * @needs curl
 * @needs python3
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { shownFile } from '../support/doc-examples';
import { MeddlingProxy } from '../support/meddling-proxy';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { type TestApp, startApp, startInstance } from '../support/start-app';

const FILE = join(__dirname, '../../docs/recipes/compliance_api.py');
const ASSETS = 1_100;

let app: TestApp;
/** An instance with a burst of two reads. */
let limited: TestApp;
let proxy: MeddlingProxy;
let directory: string;
let workspace: string;
let clientId: string;
let clientSecret: string;
let environment: Record<string, string>;
beforeAll(async () => {
  app = await startApp();
  limited = await startInstance(app, { RATE_LIMIT_READ: '60/2' });
  proxy = await MeddlingProxy.to(app.origin);
  workspace = await app.arrange.aWorkspace();
  await app.arrange.manyAssets(workspace, ASSETS);
}, 240_000);
afterAll(async () => {
  await proxy.close();
  await limited.stop();
  await app.stop();
});
beforeEach(async () => {
  proxy.meddling = {};
  directory = mkdtempSync(join(tmpdir(), 'compliance-python-'));
  copyFileSync(FILE, join(directory, 'compliance_api.py'));
  ({ clientId, clientSecret } = await app.arrange.anApplication(workspace));
  environment = { BASE_URL: proxy.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a program beside the file. */
async function run(code: string, input = ''): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = { PATH: searchPath(), HOME: directory, ...environment };
  const program = spawn(demandProgram('python3'), ['-c', code], { cwd: directory, env });
  program.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(program.stdout), text(program.stderr), once(program, 'close')]);
  return { status: program.exitCode ?? -1, stdout, stderr };
}
async function said(code: string): Promise<string[]> {
  const { status, stdout, stderr } = await run(code);
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim().split('\n');
}
const page = (name: string): string => shownFile('python.md', name);
const requests = (route: string) =>
  [...app.logLines, ...limited.logLines].filter((line) => line['clientId'] === clientId && line['route'] === route);
const tokensOf = () => requests('/oauth/token').length;

describe('compliance_api.py', () => {
  it('is written for Python 3.9', async () => {
    const check = `import ast; ast.parse(open("compliance_api.py").read(), feature_version=(3, 9))`;
    expect((await run(check)).stderr).toBe('');
  });

  it('reads every asset once, from pages and from a stream', async () => {
    environment['BASE_URL'] = app.origin;
    const ids = (method: string) =>
      said(`
from compliance_api import Api
for asset in Api().${method}("/v1/inventory/assets", categoryKeyAnyOf=["CUSTOM", "CLOUD"], hasOwner=False, source=None):
    print(asset["id"])`);

    const pages = await ids('items');

    expect(new Set(pages).size).toBe(ASSETS);
    expect((await ids('stream')).sort()).toEqual(pages.sort());
  });

  it('shares one token among programs, also when it was superseded', async () => {
    const reads = `
import sys
from compliance_api import Api
api = Api()
for line in [0, *sys.stdin]:
    print(api.get("/v1/me")["application"]["clientId"])`;
    const together = () => Promise.all([1, 2, 3, 4, 5].map(() => run(reads)));
    const every = Array.from({ length: 5 }, () => ({ status: 0, stdout: `${clientId}\n`, stderr: '' }));
    expect(await together()).toEqual(every);
    expect(tokensOf()).toBe(1);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    expect((await app.client().requestToken(form)).status).toBe(200);
    expect(tokensOf()).toBe(2);

    expect(await together()).toEqual(every);

    expect(tokensOf()).toBe(3);
    const kept = join(directory, '.compliance-api');
    const [name = ''] = readdirSync(kept).filter((one) => one.endsWith('.json'));
    expect([statSync(kept).mode & 0o777, statSync(join(kept, name)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readFileSync(join(kept, name), 'utf8')).not.toContain(clientSecret);
  });

  it('waits for limits', async () => {
    environment['BASE_URL'] = limited.origin;

    const lines = await said(`
from compliance_api import Api
api = Api()
for _ in range(4):
    print(api.get("/v1/inventory/assets", pageSize=1)["pageInfo"]["totalCount"])`);

    expect(lines).toEqual(Array.from({ length: 4 }, () => String(ASSETS)));
    expect(requests('/v1/inventory/assets').some(({ status }) => status === 429)).toBe(true);
  });

  it('resumes a stream that is cut, and then follows its changes', async () => {
    let streams = 0;
    proxy.meddling = { truncate: ({ url }) => Boolean(url?.includes('assets')) && (streams += 1) === 1 };
    const export_ = page('export.py').replace('count += 1', 'count += 1\n    print(asset["id"])');

    const ids = (await said(export_)).slice(0, -1);

    expect(streams).toBe(2);
    expect([ids.length, new Set(ids).size]).toEqual([ASSETS, ASSETS]);
    expect((await run(page('follow.py'))).stdout).toBe('');
    const { id } = await app.arrange.anAsset(workspace, { name: 'soon removed' });
    expect(await said(page('follow.py'))).toEqual([`UPSERTED ${id} soon removed`]);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 2 WHERE public_id = $1', [id]);
    expect(await said(page('follow.py'))).toEqual([`REMOVED ${id} None`]);
  });

  it('resumes a stream with since, which the checkpoint keeps', async () => {
    const asked: string[] = [];
    const api = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
      if (request.method === 'POST') return void response.end('{"access_token":"t","expires_in":60}');
      asked.push(searchParams.toString());
      const event = (sequence: number) => `{"type":"event","event":{"sequence":${sequence}}}\n`;
      // The first response ends without its last line.
      if (asked.length > 1) response.end(`${event(2)}{"type":"end","count":2}\n`);
      else response.end(`${event(1)}{"type":"checkpoint","pageCursor":"c","count":1}\n${event(2)}`);
    });
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
    environment['BASE_URL'] = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;

    const events = await said(`
from compliance_api import Api
for event in Api().stream("/v1/audit-events", since="2026-01-01T00:00:00Z"):
    print(event["sequence"])`);

    expect(events).toEqual(['1', '2']);
    // The API refuses since beside a cursor.
    expect(asked).toEqual(['since=2026-01-01T00%3A00%3A00Z', 'pageCursor=c']);
    api.close();
  });

  it('gives a page of changes again to a loop that failed', async () => {
    const failing = page('follow.py').replace('    for change', '    raise SystemExit(7)\n    for change');
    expect((await run(failing)).status).toBe(7);
    expect(existsSync(join(directory, 'cursor.txt'))).toBe(false);

    expect(await said(page('follow.py'))).toHaveLength(ASSETS);
  });

  it('updates more than 100 assets, each once when a response is lost', async () => {
    const { id: owner } = await app.arrange.anEmployee(workspace);
    const [ofOne = ''] = await said(`
from compliance_api import Api
print(next(Api().items("/v1/inventory/assets", categoryKey="CUSTOM"))["id"])`);
    let sent = 0;
    // The first attempts of the first update and of the first bulk.
    proxy.meddling = { cut: ({ method }) => method === 'PATCH' && [1, 4].includes((sent += 1)) };
    const update = `
from compliance_api import Api
print(Api().update("${ofOne}", {"ownerId": "${owner}"})["ownerId"])
print(Api().update("${ofOne}", {"ownerId": None}, clear=True)["ownerId"])`;

    expect(await said(update)).toEqual([owner, 'None']);
    expect((await said(page('classify.py')))[0]).toContain(`'successfulUpdates': ${ASSETS}, 'failedUpdates': 0`);

    const { rows } = await app.database.admin.query(
      'SELECT asset_id, count(*)::int FROM audit_event WHERE workspace_id = $1 GROUP BY 1 HAVING asset_id IS NOT NULL',
      [workspace],
    );
    const counts = rows as { asset_id: string; count: number }[];
    expect(counts.filter(({ count }) => count === 1)).toHaveLength(ASSETS - 1);
    expect(counts.filter(({ count }) => count > 1)).toEqual([{ asset_id: ofOne, count: 3 }]);
  });

  it('gives each asset a change of its own, and only where it still fits', async () => {
    const [first, second] = await Promise.all([app.arrange.anAsset(workspace), app.arrange.anAsset(workspace)]);
    const code = `
from compliance_api import Api
api = Api()
patches = {"${first.id}": {"description": "one"}, "${second.id}": {"description": "two"}}
print(api.update_each({"${first.id}": {"description": "theirs"}})["successfulUpdates"])
print([one["code"] for one in api.update_each(patches, onlyIf={"hasDescription": False})["failures"]])
print([one["id"] for one in api.update_each(patches, dryRun=True)["changes"]] == ["${first.id}"])
print(api.get("/v1/inventory/assets/${second.id}")["description"])
page = api.get("/v1/inventory/assets", pageSize=100, categoryKey="CUSTOM")["results"]
print(api.update_each({asset["id"]: {"description": "\u8cc7" * 500} for asset in page})["successfulUpdates"])`;
    expect(await said(code)).toEqual(['1', "['condition_failed']", 'True', 'two', '100']);
  });

  it('names what the API refused', async () => {
    const code = page('list.py').replace('"CLOUD"', '"CLOUDS"');

    const { status, stderr } = await run(code);

    expect(status).toBe(1);
    expect(stderr).toMatch(/ApiError: 400 validation_failed: .*categoryKey: .* \(request [\w-]+\)\n$/);
  });

  it('sends its secret to no other address', async () => {
    const bodies: string[] = [];
    const elsewhere = createServer((request, response) => {
      bodies.push(request.url ?? '');
      response.writeHead(302, { Location: `${app.origin}/v1/health` }).end();
    });
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    environment['BASE_URL'] = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;

    const { stderr } = await run(page('list.py'));

    expect(stderr).toContain('ApiError: 302 unexpected_answer');
    expect(bodies).toEqual(['/oauth/token']);
    elsewhere.close();
  });
});

describe('The recipes', () => {
  const recipe = (name: string): string => shownFile(`recipes/${name.replaceAll('_', '-')}.md`, `${name}.py`);
  let company: string;
  let arrange: TestApp['arrange'];
  beforeEach(async () => {
    arrange = app.arrange;
    company = await arrange.aWorkspace();
    ({ clientId, clientSecret } = await arrange.anApplication(company));
    environment = { BASE_URL: proxy.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  });
  const rows = async (columns: string) => {
    const { rows: found } = await app.database.admin.query<{ row: unknown[] }>(
      `SELECT json_build_array(${columns}) AS row FROM asset WHERE workspace_id = $1 AND sub_key < 15 ORDER BY name`,
      [company],
    );
    return found.map(({ row }) => row);
  };

  it('give owners by a rule, and keep what a person sets meanwhile', async () => {
    const mei = (await arrange.anEmployee(company, 'Mei', 'Mei.Tanaka@example.com')).id;
    const ada = (await arrange.anEmployee(company, 'Ada', 'ada.okafor@example.com')).id;
    const inAccount = async (name: string, account_id: string | null) =>
      (await arrange.anAsset(company, { type: 'CLOUD_STORAGE_BUCKET', name, columns: { account_id } })).id;
    await inAccount('a', '123456789012');
    const contested = await inAccount('b', '123456789012');
    await inAccount('c', '210987654321');
    await inAccount('d', '333');
    await inAccount('e', null);
    await writeFile(join(directory, 'give_owners.py'), recipe('give_owners'));
    const give = (...options: string[]) =>
      said(`
import runpy, sys
sys.argv = ["give_owners.py", *${JSON.stringify(options)}]
runpy.run_path("give_owners.py")`);

    const count = (owners: number, others: number) => [
      `${owners} owners given, ${others} assets were changed by others meanwhile`,
      'No rule for 333, no account',
    ];
    expect(await give('--try')).toEqual(count(3, 0));
    expect(new Set((await rows('owner_id')).flat())).toEqual(new Set([null]));
    const person = await arrange.aClient(company);
    proxy.meddling = {
      before: async ({ method }) => {
        if (method === 'PATCH') await person.patch(`/v1/inventory/assets/${contested}`, { ownerId: ada });
      },
    };
    expect(await give()).toEqual(count(2, 1));
    expect(await rows('name, owner_id')).toEqual([
      ['a', mei],
      ['b', ada],
      ['c', ada],
      ['d', null],
      ['e', null],
    ]);
  });

  it('give the other owners when an address is nobody’s', async () => {
    const mei = (await arrange.anEmployee(company, 'Mei', 'mei.tanaka@example.com')).id;
    for (const [name, account_id] of [
      ['a', '123456789012'],
      ['b', '210987654321'],
    ] as const) {
      await arrange.anAsset(company, { type: 'CLOUD_STORAGE_BUCKET', name, columns: { account_id } });
    }

    const { status, stdout, stderr } = await run(recipe('give_owners'));

    expect(stdout).toContain('1 owners given, 0 assets');
    expect([status, stderr.trim()]).toEqual([1, 'Not the address of one employee: ada.okafor@example.com']);
    expect(await rows('name, owner_id')).toEqual([
      ['a', mei],
      ['b', null],
    ]);
  });

  it('report computers that fail a check, with the addresses of their owners', async () => {
    const ada = (await arrange.anEmployee(company, 'Ada')).id;
    const computer = (name: string, ownerId: string | null, disk_encryption_enabled: boolean | null) =>
      arrange.anAsset(company, {
        ...{ type: 'COMPUTER', name, ownerId, columns: { serial_number: `S-${name}` } },
        posture: { disk_encryption_enabled, screen_lock_enabled: true },
      });
    await computer('=cmd', ada, false);
    await computer('unowned', null, false);
    await computer('unknown', ada, null);
    await computer('safe', ada, true);

    const [head, ...lines] = await said(recipe('failing_computers'));

    expect(head).toContain('"computer","serial number","failed"');
    expect(lines.map((line) => line.trim()).sort()).toEqual([
      `"'=cmd","S-=cmd","DISK_ENCRYPTION","","Ada","ada@example.com"`,
      '"unowned","S-unowned","DISK_ENCRYPTION","","",""',
    ]);
  });

  it('tell who left and what they still own, until nothing is left', async () => {
    const leaver = (await arrange.anEmployee(company, 'Lena', 'lena@example.com')).id;
    const stays = (await arrange.anEmployee(company, 'Ada')).id;
    await arrange.anAsset(company, { type: 'CLOUD_STORAGE_BUCKET', name: 'logs', ownerId: leaver });
    await arrange.anAsset(company, { type: 'COMPUTER', name: 'laptop', ownerId: leaver });
    await arrange.anAsset(company, { name: 'other', ownerId: stays });
    const told = async () => (await run(recipe('leavers'))).stdout.trim().split('\n').sort();
    expect(await told()).toEqual(['']);

    await arrange.change(company, 'UPDATE asset SET visibility = 1 WHERE public_id = $1', [leaver]);
    const expected: unknown[] = [expect.stringMatching('  CLOUD logs'), expect.stringMatching('  COMPUTER laptop')];
    for (let times = 0; times < 2; times += 1) {
      expect(await told()).toEqual([...expected, 'Lena <lena@example.com> left, and still owns:']);
    }
    await arrange.change(company, 'UPDATE asset SET owner_id = $1 WHERE owner_id = $2', [stays, leaver]);
    expect(await told()).toEqual(['']);
    expect(readFileSync(join(directory, 'employees.json'), 'utf8')).not.toContain('Lena');
    expect(statSync(join(directory, 'employees.json')).mode & 0o777).toBe(0o600);
  });
});

describe('token.sh', () => {
  it('gives all scripts of a machine one token, and a new one for a refused one', async () => {
    const file = join(directory, 'token.sh');
    await writeFile(file, shownFile('authentication.md', 'token.sh'));
    const together = (refused = '') =>
      said(`
import os, subprocess
every = [subprocess.Popen(["sh", "token.sh", "${refused}"], stdout=subprocess.PIPE) for _ in range(6)]
print(*{one.communicate()[0].decode().strip() for one in every})`);
    environment = { ...environment, HOME: directory };

    const [token = '', ...others] = (await together()).flatMap((line) => line.split(' '));
    expect([token.length > 100, others, tokensOf()]).toEqual([true, [], 1]);
    const [renewed, ...more] = (await together(token)).flatMap((line) => line.split(' '));
    expect([renewed === token, more, tokensOf()]).toEqual([false, [], 2]);
    expect(statSync(join(directory, '.compliance-token/token')).mode & 0o777).toBe(0o600);
  });
});
