import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackedClient, runProgram } from '../support/packed-client';
import { type TestApp, startApp } from '../support/start-app';

const root = join(__dirname, '../..');

const CONSUMER = `
import { ComplianceClient, Problem, type Asset } from 'compliance-public-api-client';
const api = new ComplianceClient({ baseUrl: 'https://api.example.com', clientId: 'ci', clientSecret: 'cs' });
export async function names(): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const asset of api.listAssets({ categoryKey: 'CLOUD', hasOwner: false })) found.push(asset.name);
  } catch (error) {
    if (error instanceof Problem && error.code === 'rate_limited') return [];
    throw error;
  }
  for await (const { lagSeconds } of api.auditEvents().pages()) lagSeconds.toFixed();
  // @ts-expect-error no such category
  api.listAssets({ categoryKey: 'CLOUDS' });
  // @ts-expect-error tags cannot be updated in bulk
  await api.updateAssets({ ids: ['x'], patch: { tags: [] } });
  await api.updateAsset('x', { description: 'y' }, { ifMatch: (await api.getAsset('x')).etag });
  const asset: Asset = (await api.updateAsset('x', { tags: [{ key: 'env' }] })).body;
  return [...found, asset.name];
}
`;

const readmeBlocks = (language: 'js' | 'ts'): string[] =>
  [...readFileSync(join(root, 'libs/client/README.md'), 'utf8').matchAll(/```(js|ts)\n([\s\S]*?)```/g)]
    .filter(([, written]) => written === language)
    .map(([, , lines]) => lines as string);

/** What the README's blocks take from one another, and a package that this project does not install. */
const README_PRELUDE = `
import { ComplianceClient } from 'compliance-public-api-client';
import { readFile } from 'node:fs/promises';
const { BASE_URL = '', CLIENT_ID = '', CLIENT_SECRET = '' } = process.env;
`;
const UNDICI = `declare module 'undici' { export class ProxyAgent { constructor(address: string); } }`;

describe('The client package', () => {
  let directory: string;
  /** The package file. */
  let file: string;
  let app: TestApp;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-client-'));
    app = await startApp();
    file = installPackedClient(directory);
  });
  afterAll(async () => {
    await app.stop();
    rmSync(directory, { recursive: true });
  });

  it('contains what it needs and nothing else', () => {
    const files = readdirSync(join(directory, 'node_modules/compliance-public-api-client'), { recursive: true });
    const names = (files as string[]).filter((name) => name !== 'dist');
    expect(names).toEqual(
      expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts']),
    );
    const others = names.filter((name) => !/^(package\.json|README\.md|LICENSE|dist\/[a-z-]+\.(js|d\.ts))$/.test(name));
    expect(others).toEqual([]);
  });

  it('has a README without links into the repository, which its users do not have', () => {
    const readme = readFileSync(join(directory, 'node_modules/compliance-public-api-client/README.md'), 'utf8');

    expect(readme.match(/\]\((?!https:)[^)]*\)/g)).toBeNull();
  });

  it('names its licence and purpose', () => {
    const inside = join(directory, 'node_modules/compliance-public-api-client');
    expect(readFileSync(join(inside, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
    expect(JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8'))).toMatchObject({
      license: 'Apache-2.0',
      keywords: expect.arrayContaining(['compliance']) as string[],
    });
  });

  it.each([
    ['import', 'module.mjs', "import { ComplianceClient } from 'compliance-public-api-client';"],
    ['require', 'script.cjs', "const { ComplianceClient } = require('compliance-public-api-client');"],
  ])('works by %s', async (_, file, loading) => {
    const program = join(directory, file);
    const client = `new ComplianceClient({ baseUrl: '${app.origin}', clientId: 'a', clientSecret: 'b' })`;
    writeFileSync(program, `${loading}\n${client}.getHealth().then(({ body }) => console.log(body.status));\n`);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { timeout: 100_000 });
    expect([stdout, stderr]).toEqual(['ok\n', '']);
  });

  it('lets the process end when its only call is aborted while another worker holds the lock', async () => {
    const lines = [
      "import { ComplianceClient, FileTokenStore } from 'compliance-public-api-client';",
      "const tokenStore = new FileTokenStore('.held');",
      `await tokenStore.tryLock('a@${app.origin}');`,
      `const api = new ComplianceClient({ baseUrl: '${app.origin}', clientId: 'a', clientSecret: 'b', tokenStore });`,
      "await api.getAsset('x', { signal: AbortSignal.timeout(100) }).catch(({ name }) => console.log(name));",
    ];
    writeFileSync(join(directory, 'given-up.mjs'), lines.join('\n'));
    // Without cancellation it would wait half a minute for a dead worker's lock.
    const { stdout } = await promisify(execFile)(process.execPath, ['given-up.mjs'], {
      cwd: directory,
      timeout: 25_000,
    });
    expect(stdout).toBe('TimeoutError\n');
  });

  it('lists, clears a field and guards an update as its README shows', async () => {
    const [listing, clearing, guarding] = readmeBlocks('js');
    const workspace = await app.arrange.aWorkspace();
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const { id } = await app.arrange.anAsset(workspace, { name: 'Badge printer', description: 'Old' });
    const told = 'console.log((await api.getAsset(id)).body.description);';
    const lines = [listing, `const id = '${id}';`, clearing, told, guarding];
    writeFileSync(join(directory, 'readme.mjs'), lines.join('\n'));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['readme.mjs'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], BASE_URL: app.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret },
      timeout: 100_000,
    });
    expect([stdout, stderr]).toEqual([`${id} Badge printer\nnull\n`, '']);
    expect(readdirSync(join(directory, '.tokens'))).toHaveLength(1);
    const reader = await app.arrange.aClient(workspace);
    expect((await reader.get(`/v1/inventory/assets/${id}`)).body).toMatchObject({ description: 'Reviewed' });
  });

  it('follows changes from a stored cursor as its README shows, and fails when it cannot read the cursor', async () => {
    const [listing = '', , , , following = ''] = readmeBlocks('js');
    const workspace = await app.arrange.aWorkspace();
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const { id } = await app.arrange.anAsset(workspace, { name: 'Badge printer' });
    const cursor = join(directory, 'cursor');
    writeFileSync(join(directory, 'follow.mjs'), listing.replace(/^for await .*/m, '') + following);
    const follow = async (): Promise<string> => {
      const env = { PATH: process.env['PATH'], BASE_URL: app.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
      const options = { cwd: directory, env, timeout: 100_000 };
      return (await promisify(execFile)(process.execPath, ['follow.mjs'], options)).stdout;
    };

    expect(await follow()).toBe(`UPSERTED ${id} Badge printer\n`);
    const { ino } = statSync(cursor);
    expect(await follow()).toBe('');
    // The store replaces the file, so that a crash leaves no half of a cursor.
    expect(statSync(cursor).ino).not.toBe(ino);
    rmSync(cursor);
    mkdirSync(cursor);
    await expect(follow()).rejects.toMatchObject({ stdout: '', stderr: expect.stringContaining('EISDIR') as string });
  });

  it.each([
    ['publint', 'publint/src/cli.js', ['run', '--strict']],
    ['attw', '@arethetypeswrong/cli/dist/index.js', ['--no-definitely-typed', '--no-emoji']],
  ])('has the shape that %s expects of packages', (_, program, words) => {
    runProgram(process.execPath, [join(root, 'node_modules', program), ...words, file], root);
  });

  it('lets the compiler check requests, responses and its README', () => {
    const blocks = readmeBlocks('ts').map((block) => README_PRELUDE + block);
    const written = [CONSUMER, ...blocks].map((text, index) => [`consumer-${index}.mts`, text] as const);
    for (const [file, text] of [...written, ['undici.d.ts', UNDICI] as const])
      writeFileSync(join(directory, file), text);
    const compilerOptions = {
      ...{ noEmit: true, strict: true, target: 'es2022', module: 'nodenext' },
      ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    runProgram(process.execPath, [join(root, 'node_modules/typescript7/bin/tsc'), '-p', '.'], directory);
  });
});
