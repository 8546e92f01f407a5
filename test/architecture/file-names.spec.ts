import { projectFiles } from './project-files';

const ROLES = [
  ...['module', 'controller', 'dto', 'guard', 'interceptor', 'pipe', 'filter', 'decorator', 'service'],
  ...['port', 'contract', 'fake', 'row'],
];
const TOOLS = ['typeorm', 'redis', 'jwt', 'system'];
const TESTS = ['spec', 'e2e-spec', 'int-spec', 'fault-spec'];

/** Words that fit every file and so describe none. */
const EMPTY_WORDS = [
  ...['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'types', 'constants', 'base'],
  ...['manager', 'handler', 'impl', 'data', 'info'],
];

/** A name that TypeORM chose. */
const TERMS_OF_OTHERS = new Set(['libs/platform/src/database/connections/data-source.ts']);

const NOUN = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
// A migration's name begins with its timestamp, which orders it.
const MIGRATION = /^\d{13}(-[a-z0-9]+)+$/;

/** All other top-level files are dotfiles, which tools find by name. */
const TOP_LEVEL = new Set([
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'],
  ...['eslint.config.mjs', 'jest.config.cjs', 'LICENSE', 'README.md', 'apps', 'libs', 'test', 'docker', 'docs'],
]);
const TEST_FOLDERS = new Set([
  ...[
    'e2e',
    'integration',
    'architecture',
    'faults',
    'linearizable',
    'mutation',
    'schemathesis',
    'browser',
    'benchmark',
    'connectors',
    'contract',
    'support',
    'run.mjs',
  ],
]);

/** Returns the fault in a file's location, or null. */
function misplacementOf(path: string): string | null {
  const [top = '', second = ''] = path.split('/');
  if (!top.startsWith('.') && !TOP_LEVEL.has(top)) return `“${top}” is no part of the top level`;
  if (top === 'test' && !TEST_FOLDERS.has(second)) return `“${second}” is no kind of test`;

  const [, tool] = /\.(typeorm|redis|jwt|system)(?:\.spec)?\.ts$/.exec(path) ?? [];
  const feature = /^libs\/(?!platform\/)[^/]+\/src\//.test(path);
  if (tool && feature && !path.includes(`/${tool}/`)) return `an adapter of ${tool} stands in ${tool}/`;
  return null;
}

/** Returns the fault in a source file's name, or null. */
function faultOf(path: string): string | null {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  const [noun = '', ...suffixes] = file.split('.').slice(0, -1);

  const migration = folders.at(-1) === 'migrations';
  if (!(migration ? MIGRATION : NOUN).test(noun)) return 'is not a kebab-case noun';
  if (folders.some((folder) => !NOUN.test(folder))) return 'stands in a folder that is not named in kebab-case';

  // A script's types are in a file beside it.
  if (file.endsWith('.d.cts')) return null;
  const roles = TESTS.includes(suffixes.at(-1) ?? '') ? suffixes.slice(0, -1) : suffixes;
  if (roles.length > 1) return 'has more than one role';
  if (roles.some((role) => ![...ROLES, ...TOOLS].includes(role))) return 'ends in an unknown role';

  if (TERMS_OF_OTHERS.has(path)) return null;
  const words = [...folders, noun].flatMap((name) => name.split('-'));
  const empty = words.find((word) => EMPTY_WORDS.includes(word));
  return empty ? `says “${empty}”, which could be said of any file` : null;
}

describe('File names', () => {
  const sources = projectFiles().filter((path) => /^(apps|libs|test)\/.*\.[cm]?[jt]s$/.test(path));

  it('are a noun and a role', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((path) => faultOf(path) !== null).map((path) => `${path} ${faultOf(path)}`)).toEqual([]);
  });

  it('are in folders that the architecture allows', () => {
    const misplaced = projectFiles().map((path) => [path, misplacementOf(path)]);
    expect(misplaced.filter(([, fault]) => fault !== null)).toEqual([]);
  });

  it.each([
    ['scripts/release.mjs', '“scripts” is no part of the top level'],
    ['NOTES.md', '“NOTES.md” is no part of the top level'],
    ['test/unit/assets.spec.ts', '“unit” is no kind of test'],
    ['test/assets.spec.ts', '“assets.spec.ts” is no kind of test'],
    ['libs/inventory/src/domain/asset-repository.typeorm.ts', 'an adapter of typeorm stands in typeorm/'],
    ['libs/auth/src/system/signer.jwt.spec.ts', 'an adapter of jwt stands in jwt/'],
  ])('%s is misplaced: %s', (path, fault) => expect(misplacementOf(path)).toBe(fault));

  it.each(['.editorconfig', '.ci/run', 'docs/errors.md', 'test/run.mjs', 'libs/auth/src/jwt/signer.jwt.ts'])(
    '%s is allowed',
    (path) => expect(misplacementOf(path)).toBeNull(),
  );

  it.each([
    ['libs/inventory/src/domain/AssetFilter.ts', 'is not a kebab-case noun'],
    ['libs/inventory/src/domain/asset_filter.ts', 'is not a kebab-case noun'],
    ['libs/inventory/src/typeorm/migrations/assets.ts', 'is not a kebab-case noun'],
    ['libs/inventory/src/Domain/asset.ts', 'stands in a folder that is not named in kebab-case'],
    ['libs/inventory/src/application/assets.usecase.ts', 'ends in an unknown role'],
    ['libs/inventory/src/http/assets.service.controller.ts', 'has more than one role'],
    ['libs/inventory/src/typeorm/assets.mongo.spec.ts', 'ends in an unknown role'],
  ])('%s %s', (path, fault) => expect(faultOf(path)).toBe(fault));

  it.each(EMPTY_WORDS)('“%s” is no part of a name', (word) => {
    const fault = `says “${word}”, which could be said of any file`;
    expect(faultOf(`libs/inventory/src/domain/asset-${word}.ts`)).toBe(fault);
    expect(faultOf(`libs/inventory/src/${word}/asset.ts`)).toBe(fault);
  });

  it.each([
    'apps/api/src/main.ts',
    'libs/platform/src/database/connections/data-source.ts',
    'libs/inventory/src/database.ts',
    'libs/inventory/src/domain/asset-repository.fake.spec.ts',
    'libs/inventory/src/typeorm/migrations/1780000000010-assets.ts',
    'test/e2e/assets-get.e2e-spec.ts',
  ])('%s is a good name', (path) => expect(faultOf(path)).toBeNull());
});
