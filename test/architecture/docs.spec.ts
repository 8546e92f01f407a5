import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '#libs/kernel';
import { PROBLEMS, settingsSchema } from '#libs/platform';

const page = (name: string): string => readFileSync(join(__dirname, '../../docs', name), 'utf8');
/** The first cell of every row of the page's tables, without its backticks. */
const firstCells = (markdown: string): string[] =>
  [...markdown.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => cell as string);

describe('The documentation', () => {
  it('has a row for every problem code, with its status, cause and remedy, and none for another', () => {
    const rows = page('errors.md')
      .split('\n')
      .map((row) => row.replace(/\s+/g, ' ').trim());
    for (const code of ERROR_CODES) {
      const { status, cause, remedy } = PROBLEMS[code];
      expect(rows).toContain(`| \`${code}\` | ${status} | ${cause} | ${remedy} |`);
    }
    expect(firstCells(page('errors.md'))).toEqual([...ERROR_CODES]);
  });

  it('has a row for every setting and none for another', () => {
    const documented = firstCells(page('settings.md')).flatMap((cell) => cell.split(', '));
    expect(documented.sort()).toEqual(Object.keys(settingsSchema.shape).sort());
  });
});
