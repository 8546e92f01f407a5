import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from './project-files';

const SOON_MS = 20_000;
const config = createRequire(__filename)(join(root, 'jest.config.cjs')) as { forceExit: boolean };

let directory: string;
let started: ChildProcess;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'compliance-ended-')));
  // Root's temporary files must be reachable for Postgres' own account.
  chmodSync(directory, 0o711);
});
afterEach(() => {
  started.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

/** Runs a program that writes the pid of its own child into the file `left`. */
function start(file: string, text: string, ...words: readonly string[]): ChildProcess {
  writeFileSync(join(directory, file), text);
  started = spawn(process.execPath, words.length > 0 ? words : [join(directory, file)], {
    cwd: directory,
    env: { ...process.env, TMPDIR: directory },
    stdio: 'ignore',
  });
  return started;
}

async function until(isSo: () => boolean): Promise<void> {
  for (const deadline = Date.now() + SOON_MS; !isSo(); await delay(50)) {
    if (Date.now() > deadline) throw new Error(`not so: ${isSo.toString()}`);
  }
}

async function leftPid(): Promise<number> {
  const file = join(directory, 'left');
  await until(() => existsSync(file));
  await delay(100);
  return Number(readFileSync(file, 'utf8'));
}

/** Waits until a process is gone. */
async function gone(pid: number): Promise<boolean> {
  for (const deadline = Date.now() + SOON_MS; Date.now() < deadline; await delay(50)) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
  }
  process.kill(pid, 'SIGKILL');
  return false;
}

const leave = (): string => `
  const { spawn } = require('node:child_process');
  const left = spawn('sleep', ['300'], { stdio: 'ignore' });
  require('node:fs').writeFileSync(${JSON.stringify(join(directory, 'left'))}, String(left.pid));`;
const CLEAN_UP = `
  const { Cleanup, ProcessCleanup } = require(${JSON.stringify(join(root, 'test/support/cleanup.cjs'))});
  const cleanup = new ProcessCleanup()`;

describe('A process started by a test file', () => {
  it('ends when its setup fails, so that jest exits although a server listens', async () => {
    const spec = `
      beforeAll(() => {
        ${leave()}
        require('node:net').createServer().listen(0);
        throw new Error('does not start');
      });
      it('never runs', () => undefined);`;
    const settings = {
      rootDir: directory,
      forceExit: config.forceExit,
      testEnvironment: join(root, 'test/support/jest/process-environment.cjs'),
      transform: {},
    };
    const jest = join(root, 'node_modules/jest/bin/jest.js');

    const run = start('set-up.spec.js', spec, jest, '--runInBand', '--config', JSON.stringify(settings));
    const [code] = (await once(run, 'exit')) as [number];

    expect(code).toBe(1);
    expect(await gone(await leftPid())).toBe(true);
  });

  it('ends when its parent is killed, even while it is frozen', async () => {
    const worker = start('worker.cjs', `${CLEAN_UP}; ${leave()} left.kill('SIGSTOP'); setInterval(() => {}, 1000);`);
    const pid = await leftPid();

    worker.kill('SIGKILL');

    expect(await gone(pid)).toBe(true);
  });
});

describe('Temporary files of a process', () => {
  it.each([
    ['that is killed', 'setInterval(() => {}, 1000);'],
    ['that exits', 'process.exit();'],
    ['that cleans up', 'cleanup.run();'],
  ])('%s are removed after its other cleanups', async (_case, end) => {
    const seen = join(directory, 'seen');
    const nested = `new Cleanup('sleep 1; cp -R "$1" "$2"', process.env.TMPDIR, ${JSON.stringify(seen)});`;
    const write = `require('node:fs').writeFileSync(process.env.TMPDIR + '/file', '');`;
    const worker = start('worker.cjs', `${CLEAN_UP}; ${nested} ${write} ${leave()} setTimeout(() => { ${end} }, 200);`);
    await leftPid();
    if (end.startsWith('setInterval')) worker.kill('SIGKILL');

    await until(() => readdirSync(directory).every((name) => !name.startsWith('compliance-test-')));
    expect(readdirSync(seen)).toEqual(['file']);
  });
});

describe('A process started by a command of npm test', () => {
  const commands = JSON.stringify(join(root, 'test/support/run/command.mjs'));
  const runner = (rest: string) => `
    import { runCommand } from ${commands};
    await runCommand([process.execPath, '-e', ${JSON.stringify(leave())} + ${JSON.stringify(rest)}], { limit: 300_000 });`;

  it('ends when npm test is killed', async () => {
    const run = start('runner.mjs', runner('setInterval(() => {}, 1000);'));
    const pid = await leftPid();

    run.kill('SIGKILL');

    expect(await gone(pid)).toBe(true);
  });

  it('ends when the command has ended', async () => {
    const run = start('runner.mjs', runner('left.unref();'));
    await once(run, 'exit');

    expect(await gone(await leftPid())).toBe(true);
  });
});
