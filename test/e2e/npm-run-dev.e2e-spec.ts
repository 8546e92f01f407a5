import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostmaster } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { root } from '../architecture/project-files';
import { clear, makeDirectory } from '../support/embedded-postgres-directory';
import { freePort } from '../support/free-port';
import { RunningCommand } from '../support/running-command';
import { until } from '../support/until';

const CONTROLLER = 'libs/platform/src/health/health.controller.ts';

describe('npm run dev', () => {
  let directory: string;
  let localDir: string;
  let copy: string;
  let origin: string;
  let running: RunningCommand;

  /** The copy has the build of the project, so that only changed files are compiled. */
  beforeAll(async () => {
    directory = makeDirectory();
    localDir = join(directory, 'local');
    copy = join(directory, 'project');
    mkdirSync(copy);
    const copied = ['apps', 'libs', 'docs', 'dist', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
    expect(spawnSync('cp', ['-a', ...copied.map((name) => join(root, name)), copy]).status).toBe(0);
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    const environment = { LOCAL_DIR: localDir, PORT: String(port), MANAGEMENT_PORT: '0' };
    running = new RunningCommand(join(copy, 'apps/local/dev.mjs'), ['--inspect=0'], environment, '');
    await running.said('Ctrl-C stops everything');
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    await clear(localDir);
    rmSync(directory, { recursive: true, force: true });
  });

  const source = (): string => readFileSync(join(copy, CONTROLLER), 'utf8');
  /** Saves as an editor does: by a new file in the place of the old one. */
  const save = (text: string): void => {
    writeFileSync(join(copy, `${CONTROLLER}~`), text);
    renameSync(join(copy, `${CONTROLLER}~`), join(copy, CONTROLLER));
  };
  /** Waits until the health route gives this status. A save may reload twice, and nobody listens for a moment then. */
  const serves = async (wanted: string): Promise<void> => {
    for (let status = ''; status !== wanted; await new Promise((resolve) => setTimeout(resolve, 20))) {
      const response = await fetch(`${origin}/v1/health`).catch(() => null);
      status = ((await response?.json()) as { status: string } | undefined)?.status ?? '';
    }
  };
  const shown = async (path: string): Promise<string> => {
    const response = await fetch(`${origin}/docs/${path}`).catch(() => null);
    return (await response?.text())?.toLowerCase() ?? '';
  };
  const times = (text: string): number => running.stdout.split(text).length - 1;
  const saidTimes = async (text: string, count: number): Promise<void> => {
    while (times(text) < count) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  it('serves changed code after each save, with the same Postgres, and reports where a syntax error is', async () => {
    const postgres = findPostmaster(join(localDir, 'postgres'));
    const before = source();
    await serves('ok');
    expect(running.stderr).toContain('Debugger listening');

    save(before.replace("return { status: 'ok'", "return { status: 'edited' as 'ok'"));
    await saidTimes('Reloaded in', 1);
    await serves('edited');

    save(before.replace('class', 'class class'));
    await saidTimes(`Not reloaded: ${CONTROLLER}:`, 1);
    await serves('edited');

    save(`throw new Error('thrown while loading');\n${before}`);
    await saidTimes('The API ended by itself', 1);

    save(before);
    await saidTimes('Reloaded in', 2);
    await serves('ok');

    save(before.replace('return {', "if (_query) throw new Error('thrown at work');\n    return {"));
    await saidTimes('/v1/health responds with 500', 1);
    save(
      before.replace(
        'get(@Query() _query: NoQueryDto): HealthDto {',
        '$& return new Promise(() => undefined) as never;',
      ),
    );
    await saidTimes('Reloading…', 5);
    save(before);
    await saidTimes('Reloaded in', 4);
    await serves('ok');

    appendFileSync(join(copy, 'docs/errors.md'), '\nOwls hoot.\n');
    for (const path of ['guides/errors', 'guides-index.json'])
      await until(async () => (await shown(path)).includes('hoot'));
    expect(findPostmaster(join(localDir, 'postgres'))).toEqual(postgres);
    expect(running.stderr).toMatch(/health\.controller\.ts:1\b/);

    await running.signal('SIGINT');
    expect((await running.finished).exitCode).toBe(0);
    expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
  });
});
