import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
});
afterEach(() => {
  started.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

/** Runs a program that writes the id of a process of its own into the file `left`. */
function start(file: string, text: string, ...words: readonly string[]): ChildProcess {
  writeFileSync(join(directory, file), text);
  started = spawn(process.execPath, words.length > 0 ? words : [join(directory, file)], {
    cwd: directory,
    stdio: 'ignore',
  });
  return started;
}

async function leftPid(): Promise<number> {
  const file = join(directory, 'left');
  for (const deadline = Date.now() + SOON_MS; !existsSync(file); await delay(50)) {
    if (Date.now() > deadline) throw new Error('nothing was started');
  }
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

const LEAVE = `
  const { spawn } = require('node:child_process');
  const left = spawn('sleep', ['300'], { stdio: 'ignore' });
  require('node:fs').writeFileSync(${JSON.stringify('left')}, String(left.pid));`;

describe('What a test file has started', () => {
  it('is ended when its set-up fails, and jest ends although a server listens', async () => {
    const spec = `
      beforeAll(() => {
        ${LEAVE}
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

  it('is ended when its process is killed', async () => {
    const children = JSON.stringify(join(root, 'test/support/jest/children.cjs'));
    const worker = start('worker.cjs', `require(${children}).watch(); ${LEAVE} setInterval(() => {}, 1000);`);
    const pid = await leftPid();

    worker.kill('SIGKILL');

    expect(await gone(pid)).toBe(true);
  });
});

describe('What a command of npm test has started', () => {
  const groups = JSON.stringify(join(root, 'test/support/command-group.mjs'));
  const runner = (rest: string) => `
    import { runCommand } from ${groups};
    await runCommand([process.execPath, '-e', ${JSON.stringify(LEAVE)} + ${JSON.stringify(rest)}], { limit: 300_000 });`;

  it('is ended when npm test is killed', async () => {
    const run = start('runner.mjs', runner('setInterval(() => {}, 1000);'));
    const pid = await leftPid();

    run.kill('SIGKILL');

    expect(await gone(pid)).toBe(true);
  });

  it('is ended when the command itself has ended', async () => {
    const run = start('runner.mjs', runner('left.unref();'));
    await once(run, 'exit');

    expect(await gone(await leftPid())).toBe(true);
  });
});
