/** @quiet It counts the tokens of some seconds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestApp, startApp } from '../support/start-app';

interface Outcome {
  readonly ok: number;
  readonly failed: readonly string[];
  readonly refused: number;
}

const TOKENS = '/oauth/token';

describe('Worker processes of one application', () => {
  let app: TestApp;
  let workspace: string;
  let directory: string;
  const children = new Set<ChildProcess>();
  beforeAll(async () => {
    app = await startApp({ ACCESS_TOKEN_TTL_SECONDS: '2' });
    workspace = await app.arrange.aWorkspace();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-client-'));
  });
  afterEach(() => {
    children.forEach((child) => child.kill('SIGKILL'));
    rmSync(directory, { recursive: true });
  });
  afterAll(() => app.stop());

  /**
   * Runs two workers that start together and read for a while. Also returns the token requests that the API received.
   */
  const run = async (store: object, milliseconds: number) => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const assignment = { baseUrl: app.origin, clientId, clientSecret, store, milliseconds };
    const workers = [1, 2].map(() => worker(assignment));
    await Promise.all(workers.map(({ ready }) => ready));
    const before = app.logLines.length;
    workers.forEach(({ child }) => child.stdin?.write('go\n'));
    const outcomes = await Promise.all(workers.map(({ outcome }) => outcome));
    // The log line follows the response.
    await delay(30);
    const tokens = app.logLines.slice(before).filter(({ route }) => route === TOKENS).length;
    return { outcomes, tokens, refused: outcomes.reduce((sum, { refused }) => sum + refused, 0) };
  };

  const worker = (assignment: object) => {
    const child = spawn(
      process.execPath,
      ['-r', join(__dirname, '../support/typescript-register.cjs'), join(__dirname, '../support/client-worker.ts')],
      {
        env: { PATH: process.env['PATH'], ASSIGNMENT: JSON.stringify(assignment) },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    children.add(child);
    child.once('exit', () => children.delete(child));
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const spoken = (async () => {
      const heard: string[] = [];
      for await (const line of lines) heard.push(line);
      return heard;
    })();
    return {
      child,
      ready: once(lines, 'line'),
      outcome: spoken.then((heard) => JSON.parse(heard.at(-1) as string) as Outcome),
    };
  };

  const stores = [
    ['a file', () => ({ kind: 'file', at: directory })],
    ['Redis', () => ({ kind: 'redis', at: redisOfTheRun() })],
  ] as const;

  it.each(stores)('share one token through %s without a refused request', async (_, store) => {
    const { outcomes, tokens, refused } = await run(store(), 700);
    for (const { ok, failed } of outcomes) {
      expect(failed).toEqual([]);
      expect(ok).toBeGreaterThan(0);
    }
    expect([tokens, refused]).toEqual([1, 0]);
  });

  it('renew it once a lifetime without a failed call, in a file that only its user can read', async () => {
    const { outcomes, tokens } = await run({ kind: 'file', at: directory }, 2_500);
    expect(outcomes.map(({ failed }) => failed)).toEqual([[], []]);
    expect(tokens).toBe(2);
    const [file, ...others] = readdirSync(directory);
    expect(others).toEqual([]);
    expect(statSync(join(directory, file as string)).mode & 0o777).toBe(0o600);
  });

  it('supersede each other without a shared store', async () => {
    const { tokens, refused } = await run({ kind: 'memory' }, 300);
    expect(tokens).toBeGreaterThan(2);
    expect(refused).toBeGreaterThan(0);
  });
});
