import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { projectFiles, root } from '../architecture/project-files';
import { blocksOf, changed, pageText } from '../support/guide';

/** The changes of the guide in its order: each has pages, and counts the files that they make and edit. */
const CHANGES = [...pageText('extending.md').matchAll(/^\| (a [^|]+?) +\|(.+)\| (\d+) +\| (\d+) +\|$/gm)].map(
  ([, name, links = '', made, edited]) => {
    const pages = [...links.matchAll(/\]\((\S+\.md)\)/g)].map(([, page]) => page as string);
    return { name, pages, blocks: pages.flatMap(blocksOf), counted: { whole: Number(made), change: Number(edited) } };
  },
);
const BLOCKS = CHANGES.flatMap(({ blocks }) => blocks);
const FILES = [...new Set(BLOCKS.map(({ file }) => file))];
const TYPES = '.local/types.tsbuildinfo';
const TESTS = FILES.filter((file) => /\.e2e-spec\.ts$/.test(file));

/** A copy of the project with the changes of the guide. */
function extendedCopy(): string {
  // On the project's own disk, so that packages can be hard links. Import rules would follow a symbolic one.
  mkdirSync(join(root, '.local'), { recursive: true });
  const copy = mkdtempSync(join(root, '.local/extended-'));
  for (const file of projectFiles()) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(root, file), join(copy, file));
  }
  spawnSync('cp', ['-al', join(root, 'node_modules'), copy]);
  // Most of it is checked already.
  if (existsSync(join(root, TYPES))) {
    mkdirSync(join(copy, dirname(TYPES)));
    copyFileSync(join(root, TYPES), join(copy, TYPES));
  }
  for (const block of BLOCKS) {
    const path = join(copy, block.file);
    if (block.kind === 'whole' && existsSync(path)) throw new Error(`${block.file} exists.`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, block.kind === 'whole' ? block.text : changed(readFileSync(path, 'utf8'), block));
  }
  return copy;
}

describe('docs/extending.md', () => {
  let copy: string;
  beforeAll(async () => {
    copy = extendedCopy();
    expect(await run('npm', 'run', '--silent', 'contract')).toEqual({ status: 0, output: '' });
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  /** Runs a program in the copy. */
  const run = (program: string, ...args: string[]): Promise<{ status: number | null; output: string }> =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd: copy, env: { ...process.env, NODE_OPTIONS: '' } });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += String(text)));
      child.on('error', reject).on('close', (status) => resolve({ status, output }));
    });
  const bin = (name: string, ...args: string[]) => run(process.execPath, join('node_modules', name), ...args);

  it('names its pages, and how many files they make and edit', () => {
    const pages = readdirSync(join(root, 'docs/extending')).map((page) => `extending/${page}`);
    expect(CHANGES.flatMap((change) => change.pages).sort()).toEqual(pages.sort());
    for (const { name, blocks, counted } of CHANGES) {
      const filesOf = (kind: string): number =>
        new Set(blocks.filter((block) => block.kind === kind).map(({ file }) => file)).size;
      expect([name, { whole: filesOf('whole'), change: filesOf('change') }]).toEqual([name, counted]);
    }
  });

  it('shows code that passes types, layout and import rules, with passing tests', async () => {
    const [types, layout, imports, tests] = await Promise.all([
      bin('typescript7/bin/tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', TYPES),
      bin('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', ...FILES),
      bin('dependency-cruiser/bin/dependency-cruise.mjs', ...FILES, '--config', '.dependency-cruiser.cjs'),
      bin(
        'jest/bin/jest.js',
        '--runInBand',
        '--selectProjects',
        'services',
        '--silent',
        '--testPathPatterns',
        ...TESTS,
      ),
    ]);

    expect(types).toEqual({ status: 0, output: '' });
    expect(layout).toEqual({ status: 0, output: '' });
    expect([imports.status, imports.output]).toEqual([0, expect.stringContaining('no dependency violations')]);
    expect([tests.status, tests.output]).toEqual([0, expect.stringContaining('Tests:')]);
  }, 600_000);
});
