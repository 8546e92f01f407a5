import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CODES } from '#libs/kernel';
import { PROBLEMS, settingsSchema } from '#libs/platform';

const page = (name: string): string => readFileSync(join(__dirname, '../../docs', name), 'utf8');
/** The first cell of every row of the page's tables, without its backticks. */
const firstCells = (markdown: string): string[] =>
  [...markdown.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => cell as string);

const root = join(__dirname, '../..');

/** Defaults that follow from other settings, or are not ours: they are tested where they are made. */
const DERIVED: Readonly<Record<string, string>> = {
  BASE_URL: '`http://127.0.0.1:PORT`',
  TOKEN_AUDIENCE: 'BASE_URL',
  SIGNING_KEYS_DIR: '`LOCAL_DIR/keys/signing`',
  CURSOR_KEYS_FILE: '`LOCAL_DIR/keys/cursor.json`',
  SECRET_PEPPER_FILE: '`LOCAL_DIR/keys/pepper`',
  AUDIT_KEY_FILE: '`LOCAL_DIR/keys/audit`',
  OTEL_SERVICE_NAME: 'compliance-api',
  OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: '1',
};

/** As the page writes it. */
function defaultOf(name: string): string {
  const derived = DERIVED[name];
  if (derived !== undefined) return derived;
  const setting = settingsSchema.shape[name as keyof typeof settingsSchema.shape];
  const unset = setting.safeParse(undefined);
  if (!unset.success) return 'required';
  const { data } = unset;
  if (data === undefined || (Array.isArray(data) && data.length === 0)) return 'none';
  return typeof data === 'object' && 'burst' in data ? `${data.perMinute}/${data.burst}` : String(data);
}

describe('The documentation', () => {
  it('has no link that leads nowhere', () => {
    const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => join('docs', name))];
    for (const name of pages.filter((path) => path.endsWith('.md'))) {
      const text = readFileSync(join(root, name), 'utf8');
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
        const path = join(root, dirname(name), target as string);
        expect([name, target, existsSync(path)]).toEqual([name, target, true]);
      }
    }
  });

  it('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const pages = [
      'README.md',
      'docs/operators.md',
      'docs/getting-started.md',
      'docs/production.md',
      'docs/benchmarks.md',
      'docs/contract.md',
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

  it('says of every setting what it is when nobody sets it', () => {
    const rows = [...page('settings.md').matchAll(/^\| `([A-Z_]+)` +\| ([^|]+?) +\|/gm)];
    expect(rows.length).toBe(Object.keys(settingsSchema.shape).length);
    for (const [, name = '', documented = ''] of rows) {
      expect([name, documented.replace(/ \(image: .*\)$/, '')]).toEqual([name, defaultOf(name)]);
    }
    const image = readFileSync(join(root, 'docker/Dockerfile'), 'utf8');
    const [, host] = /`HOST` +\| \S+ \(image: (\S+)\)/.exec(page('settings.md')) ?? [];
    expect(image).toContain(` HOST=${host}\n`);
  });
});
