import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CODES } from '#libs/kernel';
import { PROBLEMS } from '#libs/platform/problems';
import { meaningOf, settingsSchema } from '#libs/platform/config';
import { GUIDES } from '../../libs/docs-site/src/guides/guide-list';
import { renderGuide } from '../../libs/docs-site/src/guides/guide-markdown';
import { settingsPage } from './settings-page';

const page = (name: string): string => readFileSync(join(__dirname, '../../docs', name), 'utf8');
/** Returns the first cell of every table row on the page, without its backticks. */
const firstCells = (markdown: string): string[] =>
  [...markdown.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => cell as string);

const root = join(__dirname, '../..');

describe('docs/', () => {
  it('has no broken link', () => {
    const folders = ['docs', 'docs/connectors', 'docs/extending', '.github'];
    const pages = [
      'README.md',
      ...folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name))),
    ];
    for (const name of pages.filter((path) => path.endsWith('.md'))) {
      const text = readFileSync(join(root, name), 'utf8');
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
        const path = join(root, dirname(name), target as string);
        expect([name, target, existsSync(path)]).toEqual([name, target, true]);
      }
    }
  });

  it.each(GUIDES)('has a title, a summary and only links that customers can open: $name', ({ file }) => {
    const { title, summary } = renderGuide(readFileSync(join(root, file), 'utf8'), file);

    expect([title, summary]).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\w/)]);
  });

  it('names only scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const pages = [
      'README.md',
      'docs/operators.md',
      'docs/production.md',
      'docs/benchmarks.md',
      'docs/changing-the-api.md',
    ];
    const named = pages.flatMap((name) =>
      [
        ...readFileSync(join(root, name), 'utf8').matchAll(
          /npm (?:run (?:--silent )?)?(start|test|[a-z]+(?::[a-z]+)?)\b/g,
        ),
      ].map(([, script]) => script as string),
    );
    expect([...new Set(named)].filter((script) => !(script in scripts) && !['ci', 'are'].includes(script))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'admin', 'bench']));
  });

  it('has one row for every problem code, with its status, cause and remedy', () => {
    const rows = page('errors.md')
      .split('\n')
      .map((row) => row.replace(/\s+/g, ' ').trim());
    for (const code of ERROR_CODES) {
      const { status, cause, remedy } = PROBLEMS[code];
      expect(rows).toContain(`| \`${code}\` | ${status} | ${cause} | ${remedy} |`);
    }
    expect(firstCells(page('errors.md'))).toEqual([...ERROR_CODES]);
  });

  it('names every file of the fault suite', () => {
    const [, suite = ''] = /^## The fault suite\n([^]*?)^## /m.exec(page('testing.md')) ?? [];
    const files = readdirSync(join(root, 'test/faults')).flatMap(
      (name) => /^(.*)\.fault-spec\.ts$/.exec(name)?.[1] ?? [],
    );
    expect(firstCells(suite).sort()).toEqual(files.sort());
  });

  it('has the tables of settings that the schema generates (npm run settings)', () => {
    const written = page('settings.md');
    expect(settingsPage()).toBe(written);
    expect(firstCells(written)).toHaveLength(Object.keys(settingsSchema.shape).length);
  });

  it('is corrected by npm run settings: missing rows, extra rows, wrong defaults', () => {
    const written = page('settings.md');
    for (const planted of [
      written.replace(/^\| `PORT` .*\n/m, ''),
      written.replace(/^\| `PORT` .*\n/m, '$&| `PORTS` | 1 | none |\n'),
      written.replace('| 3000 ', '| 3001 '),
    ]) {
      expect(planted).not.toBe(written);
      expect(settingsPage(planted)).toBe(written);
    }
  });

  it('says what the image sets', () => {
    const image = readFileSync(join(root, 'docker/Dockerfile'), 'utf8');
    for (const name of ['HOST', 'CONSOLE_HOST'] as const) {
      expect(image).toMatch(new RegExp(`^ENV .* ${name}=${meaningOf(name).imageDefault}(?: |$)`, 'm'));
    }
  });
});
