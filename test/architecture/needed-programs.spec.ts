import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { projectFiles, root } from './project-files';

const FILTER = join(root, 'test/support/jest/needed-programs.cjs');
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'compliance-programs-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Returns the result of jest's filter for these files, in a process with this environment. */
function filtered(
  files: readonly string[],
  environment: Record<string, string> = {},
): { runs: string[]; lines: string[] } {
  const script = `
    const filter = require(${JSON.stringify(FILTER)});
    const { filtered } = filter(${JSON.stringify(files)});
    console.log(JSON.stringify({ runs: filtered, lines: filter.leftOutLines(filter.leftOut) }));`;
  // A machine with none of the programs, except those that the test puts into its directory.
  const hook = `
    process.getuid = () => 1000;
    const fs = require('node:fs');
    const { accessSync } = fs;
    fs.accessSync = (path, mode) => {
      if (!path.startsWith(${JSON.stringify(directory)})) throw new Error('not there');
      accessSync(path, mode);
    };`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', hook + script], { env: environment, encoding: 'utf8' });
  expect(stderr).toBe('');
  const { runs, lines } = JSON.parse(stdout) as { runs: string[]; lines: string[] };
  return { runs: runs.map((path) => basename(path)), lines };
}

/** Writes a test file and a module that it imports, which needs a program. */
function plant(name: string, program: string): string {
  writeFileSync(join(directory, `${name}-module.ts`), `/** @needs ${program} */\nexport const one = 1;\n`);
  writeFileSync(join(directory, `${name}-door.ts`), `import {\n  one,\n} from './${name}-module';\nexport { one };\n`);
  const file = join(directory, `${name}.spec.ts`);
  writeFileSync(file, `import { one } from './${name}-door';\n`);
  return file;
}

describe('A test file that needs a program', () => {
  it('is skipped when the program is missing, and the last lines name what to install', () => {
    const files = [plant('cache', 'redis'), plant('cluster', 'redis-server'), plant('pages', 'chromium')];
    writeFileSync(join(directory, 'plain.spec.ts'), '');

    expect(filtered([...files, join(directory, 'plain.spec.ts')])).toEqual({
      runs: ['plain.spec.ts'],
      lines: [
        'left out: 2 files, for want of redis-server (apt-get install redis-server)',
        'left out: 1 file, for want of chromium (apt-get install chromium)',
      ],
    });
  });

  it('fails instead when every program is required', () => {
    const required = { ALL_PROGRAMS: 'required' };

    expect(filtered([plant('pages', 'chromium')], required)).toEqual({ runs: ['pages.spec.ts'], lines: [] });
  });

  it('runs when the PATH has the program; REDIS_URL replaces a local Redis', () => {
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'chromium'), '');
    chmodSync(join(bin, 'chromium'), 0o755);
    const files = [plant('cache', 'redis'), plant('cluster', 'redis-server'), plant('pages', 'chromium')];

    expect(filtered(files, { PATH: bin, REDIS_URL: 'redis://localhost' }).runs).toEqual([
      'cache.spec.ts',
      'pages.spec.ts',
    ]);
  });

  it('excludes files that import only types of such a module', () => {
    const file = plant('pages', 'chromium');
    writeFileSync(file, `import type { one } from './pages-door';\nimport { type one as two } from './pages-door';\n`);

    expect(filtered([file]).runs).toEqual(['pages.spec.ts']);
  });
});

describe('Programs', () => {
  it('are found where packages install them, even outside the PATH', () => {
    const { searchPath } = jest.requireActual<{ readonly searchPath: () => string }>('../support/programs.cjs');

    expect(searchPath().split(':')).toEqual(
      expect.arrayContaining([
        '/usr/sbin',
        '/usr/local/sbin',
        '/usr/local/bin',
        '/opt/homebrew/bin',
        '/opt/homebrew/sbin',
      ]),
    );
  });

  it('are run only by test files that are listed', () => {
    const { needsOf } = jest.requireActual<{ readonly needsOf: (file: string) => string[] }>(FILTER);
    const demands = projectFiles()
      .filter((path) => /^test\/(?!architecture\/).*\.ts$/.test(path))
      .flatMap((path) =>
        [...readFileSync(join(root, path), 'utf8').matchAll(/demandProgram\('([^']+)'\)/g)].map(
          ([, program = '']) => [path, program] as const,
        ),
      );
    const unknown = demands.filter(([path, program]) => {
      const needs = needsOf(join(root, path));
      return !needs.includes(program) && !(program === 'redis-server' && needs.includes('redis'));
    });

    expect(demands.length).toBeGreaterThan(5);
    expect(unknown).toEqual([]);
  });
});
