/** @needs curl */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findPostmaster } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { type Example, examplesOf } from '../support/doc-examples';
import { freePort } from '../support/free-port';
import { clear, makeDirectory } from '../support/embedded-postgres-directory';
import { searchPath } from '../support/programs.cjs';
import { type FinishedCommand, RunningCommand } from '../support/running-command';
import { until } from '../support/until';

interface Kept {
  readonly client_id: string;
  readonly client_secret: string;
  readonly explorer: { readonly client_id: string; readonly client_secret: string };
}

describe('npm start', () => {
  let directory: string;
  let localDir: string;
  let port: number;
  let environment: Record<string, string>;

  const start = (changes: Record<string, string> = {}): RunningCommand =>
    new RunningCommand('apps/local/start.mjs', [], { ...environment, ...changes });
  const started = async (changes?: Record<string, string>): Promise<RunningCommand> => {
    const running = start(changes);
    await running.said('Ctrl-C stops everything');
    return running;
  };
  const stopped = async (running: RunningCommand, signal: NodeJS.Signals = 'SIGINT'): Promise<FinishedCommand> => {
    await running.signal(signal);
    return running.finished;
  };
  const credentialsFile = (): string => join(localDir, 'credentials.json');
  const credentials = (): Kept => JSON.parse(readFileSync(credentialsFile(), 'utf8')) as Kept;
  const responses = async (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  const nothingRuns = async (): Promise<void> => {
    expect(await responses()).toBe(false);
    expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
  };
  /** The printed lines, as a person pastes them into one shell. */
  const pastedLines = (banner: string): string[] =>
    banner
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /^(TOKEN=|curl )/.test(line));
  const paste = async (lines: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('sh', ['-c', lines.join('\necho\n')], {
      env: { ...process.env, PATH: searchPath() },
      timeout: 60_000,
    });
    return stdout;
  };

  const updatedAt = async (banner: string): Promise<string | undefined> => {
    const [token = '', list = ''] = pastedLines(banner);
    const listed = await paste([token, list.replace('pageSize=3', 'categoryKey=CUSTOM&pageSize=1')]);
    return /"updatedAt":"[^"]+"/.exec(listed)?.[0];
  };

  /** Uses a one-time link as its page does. Returns where it leads. */
  const useLink = async (link: string): Promise<string> => {
    const csrf = /name="csrf" value="([^"]*)"/.exec(await (await fetch(link)).text())?.[1] ?? '';
    const form = { method: 'POST', body: new URLSearchParams({ csrf }), redirect: 'manual' } as const;
    const { status, headers } = await fetch(link, { ...form, headers: { Origin: new URL(link).origin } });
    return `${status} ${headers.get('location')}`;
  };

  // One directory for the whole file: its tests tell the story of one machine from the first start on.
  beforeAll(async () => {
    directory = makeDirectory();
    localDir = join(directory, 'local');
    port = await freePort();
    environment = { LOCAL_DIR: localDir, PORT: String(port) };
    for (const setting of ['MANAGEMENT_PORT', 'CONSOLE_PORT', 'CONSOLE_MANAGEMENT_PORT']) {
      environment[setting] = String(await freePort());
    }
  });
  afterEach(() => RunningCommand.killAll());
  afterAll(async () => {
    await clear(localDir);
    rmSync(directory, { recursive: true, force: true });
  });

  it.each([
    ['--help', 0],
    ['--port=1', 2],
  ])('with %s tells how to use it, and starts nothing', async (word, status) => {
    const { exitCode, stdout, stderr } = await new RunningCommand('apps/local/start.mjs', [word], environment).finished;

    expect(exitCode).toBe(status);
    expect(status === 0 ? stdout : stderr).toContain('CONSOLE_PORT');
    expect(existsSync(localDir)).toBe(false);
  });

  it('serves the demo from a fresh folder, prints working commands, and stops on Ctrl-C', async () => {
    const running = await started();
    const { client_id: id, client_secret: secret, explorer } = credentials();
    for (const printed of [`http://127.0.0.1:${port}/docs`, id, secret, explorer.client_id, explorer.client_secret]) {
      expect(running.stdout).toContain(printed);
    }
    expect(explorer.client_id).not.toBe(id);
    expect(statSync(credentialsFile()).mode & 0o777).toBe(0o600);

    const lines = pastedLines(running.stdout);
    expect(lines).toHaveLength(3);
    const [assets, updated] = (await paste(lines))
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { results: unknown[]; description: string });
    expect(assets?.results).toHaveLength(3);
    expect(updated?.description).toBe('Reviewed');

    const form = `-d client_id=${explorer.client_id} -d client_secret=${explorer.client_secret}`;
    const explore = `curl -s -d grant_type=client_credentials ${form} http://127.0.0.1:${port}/oauth/token`;
    const [token = '', list = ''] = lines;
    const between = await paste([token, explore, list]);
    expect(between).toContain('"scope":"all:read all:write"');
    expect(between).toContain('"results"');

    const address = `http://127.0.0.1:${environment['CONSOLE_PORT']}/sign-in/link/`;
    const printed = /^ *Console +(.*)$/m.exec(running.stdout)?.[1] ?? '';
    expect([printed.startsWith(address), await useLink(printed)]).toEqual([true, '303 /']);
    const another = new RunningCommand('apps/admin/run.mjs', ['console', 'link'], environment);
    const { exitCode, stdout } = await another.finished;
    expect([exitCode, stdout.startsWith(address), await useLink(stdout.trim())]).toEqual([0, true, '303 /']);

    const since = Date.now();
    const finished = await stopped(running);
    expect([finished.exitCode, finished.stderr]).toEqual([0, '']);
    expect(Date.now() - since).toBeLessThan(30_000);
    await nothingRuns();
  });

  it('works as README and docs describe it, with new credentials for lost ones, and restarts after it was killed', async () => {
    const { client_id: lost } = credentials();
    rmSync(credentialsFile());
    const killed = await started();
    expect(killed.stdout).not.toContain('Loading the demo data');
    const before = credentials();
    expect(before.client_id).not.toBe(lost);
    const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = before;
    const shell = promisify(execFile);
    const told: Record<string, string> = { BASE_URL: `http://127.0.0.1:${port}`, CLIENT_ID, CLIENT_SECRET };
    const run = async (code: string, cwd = directory): Promise<string> => {
      const env = { ...process.env, PATH: searchPath(), ...environment, ...told };
      return (await shell('sh', ['-c', code], { cwd, env, timeout: 120_000 })).stdout;
    };
    const example = async (page: string, name: string): Promise<string> =>
      run(examplesOf(page).find((one) => one.name === name && one.language === 'sh')?.code as string);

    told['TOKEN'] = (await example('authentication.md', 'token')).trim();
    told['ID'] = /"id":"([^"]+)"/.exec(await example('filters.md', 'filter'))?.[1] as string;
    expect(await example('updates.md', 'get')).toContain('HTTP/1.1 200');
    expect(await example('updates.md', 'update')).toBe('200\n');
    expect(await example('bulk-updates.md', 'bulk')).toContain('"successfulUpdates":1');
    expect(await example('concurrent-updates.md', 'if-match')).toBe('200\n');

    const [own] = examplesOf('../README.md').filter(({ code }) => code.includes('workspaces create')) as [Example];
    const said = await run(own.code, join(__dirname, '../..'));
    told['CLIENT_ID'] = /ci_\w+/.exec(said)?.[0] as string;
    told['CLIENT_SECRET'] = /cs_[\w-]+/.exec(said)?.[0] as string;
    told['TOKEN'] = (await example('authentication.md', 'token')).trim();
    expect(await example('pagination.md', 'list')).toMatch(/"name":"ADA-X1".*"totalCount":6}/);

    // The past of the demo is made up once, so a client's update keeps its time.
    const updated = await updatedAt(killed.stdout);
    expect(updated).toContain('T');
    await stopped(killed, 'SIGKILL');
    // The API ends with us. The server keeps running for the next start.
    await until(async () => !(await responses()));
    const running = await started();
    expect(running.stdout).not.toContain('Loading the demo data');
    expect(running.stdout).toContain(before.client_secret);
    expect(credentials()).toEqual(before);
    expect(await updatedAt(running.stdout)).toBe(updated);
    expect((await stopped(running, 'SIGTERM')).exitCode).toBe(0);
    await nothingRuns();
  }, 120_000);

  it('stops on Ctrl-C while the console does not respond', async () => {
    // A database that accepts connections and stays silent.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const file = join(directory, 'console-database');
    writeFileSync(file, `postgres://c:p@127.0.0.1:${(silent.address() as AddressInfo).port}/x`, { mode: 0o600 });
    try {
      const running = start({ CONSOLE_DATABASE_URL_FILE: file });
      while (!(await responses())) await delay(50);

      await running.signal('SIGINT');
      const finished = await Promise.race([running.finished, delay(30_000, null, { ref: false })]);

      expect(finished).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('Ready') as string });
    } finally {
      silent.close();
    }
    await nothingRuns();
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])('reports %s when it is in use, and leaves nothing running', async (setting) => {
    const other = createServer().listen(Number(environment[setting]), '127.0.0.1');
    await once(other, 'listening');
    try {
      const { exitCode, stderr } = await start().finished;
      expect(exitCode).toBe(1);
      expect(stderr).toBe(`127.0.0.1:${environment[setting]} is taken; set ${setting} to another port.\n`);
      expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
    } finally {
      other.close();
      await once(other, 'close');
    }
  });
});
