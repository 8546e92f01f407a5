// Import rules. Each rule has a deliberate violation in test/architecture/import-rules.spec.ts; a rule without one
// fails that test. Type-only imports count, too.

// Test code, which no shipped program may load.
const TEST_CODE = '\\.(fake|contract|spec|e2e-spec|int-spec)\\.ts$';

const LAYERS = 'http|application|domain|typeorm|redis|jwt|system';
// A library with the folders of a feature. `audit` and `auth` are lower layers with the same structure.
const FEATURE = '^libs/(?!kernel/|platform/|local-postgres/|docs-site/|client/)([^/]+)/src';
// A slice has the same folders inside a large feature. From the lowest to the highest.
const SLICES = ['tag-keys', 'assets', 'imports', 'changes', 'history'];
const SLICE = `(?:/(?:${SLICES.join('|')}))?`;
const KERNEL = '^libs/kernel/';
const PLATFORM = '^libs/platform/';
const LOCAL_POSTGRES = '^libs/local-postgres/';
const AUDIT = '^libs/audit/';
const AUTH = '^libs/auth/';
// A separate package for clients of the API.
const CLIENT = '^libs/client/';
// Scripts that browsers load by their address.
const BROWSER = '^libs/docs-site/src/browser/';
// The pages of the web console call what every feature offers.
const CONSOLE_PAGES = '^libs/console/src/http/';
const FEATURE_DOORS = '^libs/[^/]+/src/(?:index|operators)\\.ts$';
const OWN = `^libs/$1/src${SLICE}`;

const packages = (...names) => `^node_modules/(${names.join('|')})/`;

/** Lists everything that files in a feature's folder may import. */
function folderMayImport(folder, comment, allowed, { nodeBuiltins = false } = {}) {
  return {
    name: `${folder}-may-import`,
    severity: 'error',
    comment,
    from: { path: `${FEATURE}${SLICE}/${folder}/`, pathNot: [TEST_CODE, CONSOLE_PAGES] },
    to: {
      pathNot: allowed,
      // A separate rule reports unresolved imports.
      couldNotResolve: false,
      ...(nodeBuiltins ? { dependencyTypesNot: ['core'] } : {}),
    },
  };
}

/**
 * An adapter folder is named after its tool. It may import the tool, its port and the libraries that every adapter
 * uses.
 */
function adapterMayImport(folder, comment, alsoAllowed) {
  const allowed = [`${OWN}/(?:domain|${folder})/`, KERNEL, PLATFORM, AUDIT, packages('@nestjs/common'), ...alsoAllowed];
  return folderMayImport(folder, comment, allowed, { nodeBuiltins: true });
}

const folderRules = [
  folderMayImport('domain', 'The domain knows itself, the kernel and the types of audit events.', [
    `${OWN}/domain/`,
    KERNEL,
    AUDIT,
  ]),
  folderMayImport('application', 'The application asks the domain; of Nest it takes only what makes it injectable.', [
    `${OWN}/(?:application|domain)/`,
    KERNEL,
    AUDIT,
    packages('@nestjs/common'),
  ]),
  folderMayImport('http', 'What drives a feature over HTTP never sees how the data is kept.', [
    `${OWN}/(?:http|application|domain)/`,
    KERNEL,
    PLATFORM,
    AUTH,
    packages('@nestjs/(?:common|core|swagger|platform-express|throttler)', 'class-(?:validator|transformer)', 'rxjs'),
    packages('(?:@types/)?express'),
  ]),
  {
    name: 'console-pages-may-import',
    severity: 'error',
    comment: 'Pages call their own library and the doors of features; the template library makes HTML of it.',
    from: { path: CONSOLE_PAGES, pathNot: TEST_CODE },
    to: {
      pathNot: [
        '^libs/console/src/(?:http|domain|typeorm|system)/',
        FEATURE_DOORS,
        KERNEL,
        PLATFORM,
        packages(
          '@nestjs/(?:common|core|platform-express)',
          'class-(?:validator|transformer)',
          'eta',
          'rxjs',
          '(?:@types/)?express',
        ),
      ],
      couldNotResolve: false,
      dependencyTypesNot: ['core'],
    },
  },
  adapterMayImport('typeorm', 'SQL adapters: TypeORM and the Postgres driver beneath it.', [
    packages('typeorm', '@nestjs/typeorm', '(?:@types/)?pg', '(?:@types/)?pg-copy-streams'),
  ]),
  adapterMayImport('redis', 'Redis adapters.', [packages('ioredis')]),
  adapterMayImport('jwt', 'Token adapters.', [packages('@nestjs/jwt', 'jose', 'zod')]),
  adapterMayImport('system', 'What the machine offers: files, randomness, time.', [
    packages('canonicalize', 'jsonata', 'openid-client', 're2js', 'stream-(?:chain|json)', 'uuid', 'yaml', 'zod'),
  ]),
];

/** Layers from the lowest to the highest. A layer may import lower ones only. */
function ladder(name, comment, rungs, folderOf) {
  return rungs.slice(0, -1).map((rung, place) => ({
    name: `${name}-${rung}-steps-down`,
    severity: 'error',
    comment,
    from: { path: folderOf(rung), pathNot: TEST_CODE },
    to: { path: rungs.slice(place + 1).map(folderOf) },
  }));
}

/** A library between the kernel and the features may import lower ones only. */
function standsOn(floor, lib, below) {
  const own = `^libs/${lib}/`;
  return {
    name: `${lib}-stands-on-${floor}`,
    severity: 'error',
    comment: 'Step down, never up.',
    from: { path: own, pathNot: TEST_CODE },
    to: { path: '^libs/', pathNot: [...below, own, CLIENT] },
  };
}

const PLATFORM_LADDER = [
  'charts',
  'background',
  'config',
  'keys',
  'observability',
  'redis',
  'database',
  'lists',
  'changes',
  'problems',
  'http',
  'openapi',
  'input',
  'throttling',
  'pagination',
  'change-pages',
  'streams',
  'idempotency',
  'health',
  'process',
];

const ladderRules = [
  ...ladder(
    'platform',
    'The folders of the platform form a ladder: step down, never up.',
    PLATFORM_LADDER,
    (folder) => `${PLATFORM}src/${folder}/`,
  ),
  ...ladder(
    'inventory',
    'The slices of the inventory form a ladder: step down, never up.',
    SLICES,
    (slice) => `^libs/inventory/src/${slice}/`,
  ),
  {
    name: 'kernel-imports-nothing',
    severity: 'error',
    comment: 'The kernel is pure TypeScript: no library, no package, no Node module.',
    from: { path: KERNEL, pathNot: TEST_CODE },
    to: { pathNot: KERNEL, couldNotResolve: false },
  },
  standsOn('kernel', 'platform', [KERNEL]),
  standsOn('platform', 'local-postgres', [KERNEL, PLATFORM]),
  {
    name: 'production-runs-without-local-postgres',
    severity: 'error',
    comment: 'The API and its libraries are given a database; only a developer’s machine starts one.',
    from: { path: '^(?:apps/api|libs)/', pathNot: [LOCAL_POSTGRES, TEST_CODE] },
    to: { path: LOCAL_POSTGRES },
  },
  standsOn('platform', 'docs-site', [KERNEL, PLATFORM]),
  standsOn('platform', 'audit', [KERNEL, PLATFORM]),
  standsOn('audit', 'auth', [KERNEL, PLATFORM, AUDIT]),
  {
    name: 'audit-as-types-in-the-core',
    severity: 'error',
    comment: 'The domain and the application name what is recorded; an adapter records it.',
    from: { path: `^libs/(?!audit/)[^/]+/src${SLICE}/(?:domain|application)/`, pathNot: TEST_CODE },
    to: { path: AUDIT, dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'features-stand-side-by-side',
    severity: 'error',
    comment: 'A feature is one folder that could be deleted, so no other feature may know it.',
    from: {
      path: '^libs/(?!kernel/|platform/|local-postgres/|audit/|auth/|client/|console/)([^/]+)/',
      pathNot: TEST_CODE,
    },
    to: { path: '^libs/', pathNot: [KERNEL, PLATFORM, LOCAL_POSTGRES, AUDIT, AUTH, CLIENT, '^libs/$1/'] },
  },
  {
    name: 'nothing-knows-the-console',
    severity: 'error',
    comment: 'The console stands on top: neither the API nor a library loads any of it.',
    from: { path: '^(?:libs/(?!console/)|apps/(?:api/|features))', pathNot: TEST_CODE },
    to: { path: '^(?:libs/console/|apps/(?:console/|whole-schema))' },
  },
  {
    name: 'client-stands-alone',
    severity: 'error',
    comment: 'It is published by itself: of all that is here it knows the contract, as generated types.',
    from: { path: CLIENT, pathNot: TEST_CODE },
    to: { path: '^libs/', pathNot: CLIENT },
  },
  {
    name: 'server-never-imports-its-client',
    severity: 'error',
    comment: 'What serves knows nothing of those who call.',
    from: { path: '^(?:apps|libs)/', pathNot: [CLIENT, TEST_CODE] },
    to: { path: CLIENT },
  },
  {
    name: 'libs-never-import-apps',
    severity: 'error',
    comment: 'Apps start things; libs are things.',
    from: { path: '^libs/', pathNot: TEST_CODE },
    to: { path: '^apps/' },
  },
  {
    name: 'apps-stand-alone',
    severity: 'error',
    comment:
      'What two apps need is a library, except the lists of features and tables, and what runs before any library.',
    from: { path: '^apps/([^/]+)/', pathNot: TEST_CODE },
    to: {
      path: '^apps/',
      pathNot: ['^apps/$1/', '^apps/(?:features|whole-schema|stop-before-serving)\\.ts$', '^apps/local/build\\.mjs$'],
    },
  },
];

// The public entry points: one per folder of the platform; elsewhere `index.ts`, `feature.ts` for the list of features
// and `operators.ts` for the command line.
const DOOR = `^libs/(?:[^/]+/src/(?:index|feature|operators)|platform/src/(?:[^/]+|http/server)/index)\\.ts$`;

const doorRules = [
  {
    name: 'doors-are-the-only-way-in',
    severity: 'error',
    comment: 'Another library or app sees what a door names, and nothing behind it.',
    from: { path: '^(?:libs|apps)/([^/]+)/', pathNot: [CLIENT, TEST_CODE] },
    to: { path: '^libs/', pathNot: ['^libs/$1/', DOOR] },
  },
  {
    name: 'libs-are-called-by-name',
    severity: 'error',
    comment: 'Between libraries and apps the way is `#libs/<name>`, never a relative path.',
    from: { path: '^(?:libs|apps)/([^/]+)/', pathNot: [CLIENT, TEST_CODE] },
    to: { path: DOOR, pathNot: '^libs/$1/', dependencyTypesNot: ['aliased'] },
  },
  {
    name: 'door-names-its-own',
    severity: 'error',
    comment: 'A door opens onto one library; it does not hand on another.',
    from: { path: '^libs/([^/]+)/src/(?:index|operators)\\.ts$' },
    to: { pathNot: '^libs/$1/src/', couldNotResolve: false },
  },
  {
    name: 'platform-door-names-its-own',
    severity: 'error',
    comment: 'A door of the platform opens onto one folder.',
    from: { path: `${PLATFORM}src/(.+)/index\\.ts$` },
    to: { pathNot: `${PLATFORM}src/$1/`, couldNotResolve: false },
  },
  {
    name: 'module-may-import',
    severity: 'error',
    comment: 'The module binds ports to adapters: its own library, libraries below, Nest and Node.',
    from: { path: `${FEATURE}/[^/]+\\.module\\.ts$` },
    to: {
      pathNot: ['^libs/', packages('@nestjs/[^/]+')],
      couldNotResolve: false,
      dependencyTypesNot: ['core'],
    },
  },
  {
    name: 'express-as-types-in-http',
    severity: 'error',
    comment: 'A slice reads a request; running Express is the platform’s business.',
    from: { path: `${FEATURE}${SLICE}/http/`, pathNot: TEST_CODE },
    to: { path: packages('(?:@types/)?express'), dependencyTypesNot: ['type-only'] },
  },
];

// Matches the module itself, even when nobody imports it: every file has fewer dependents than this limit.
const anyFileAt = (path) => ({ module: { path, numberOfDependentsLessThan: 100 }, from: {} });

const treeRules = [
  {
    name: 'libs-live-in-src',
    severity: 'error',
    comment: 'Every rule of a folder starts at `src/`: a file beside it would be under none.',
    ...anyFileAt('^libs/([^/]+$|[^/]+/(?!src/))'),
  },
  {
    name: 'client-is-flat',
    severity: 'error',
    comment: 'A client that needs folders does more than call.',
    ...anyFileAt(`${CLIENT}src/[^/]+/`),
  },
  {
    name: 'kernel-is-flat',
    severity: 'error',
    comment: 'A kernel that needs folders has become a library of its own.',
    ...anyFileAt(`${KERNEL}src/[^/]+/`),
  },
  {
    name: 'migrations-under-typeorm',
    severity: 'error',
    comment:
      'A migration is SQL: it belongs to the adapter that knows SQL, in platform to the concern that keeps rows.',
    ...anyFileAt(
      `^libs/[^/]+/src/(?!(?:(?:${SLICES.join('|')})/)?typeorm/migrations/|(?:changes|idempotency/records)/migrations/)([^/]+/)*migrations/`,
    ),
  },
  {
    name: 'no-unknown-folder-in-a-feature',
    severity: 'error',
    comment: 'The same few folders in every feature.',
    ...anyFileAt(
      `${FEATURE}/(?!(?:(?:${SLICES.join('|')})/)?(?:${LAYERS})/|(?:index|feature|operators)\\.ts$|[^/]+\\.module\\.ts$)`,
    ),
  },
  {
    name: 'no-unknown-folder-in-platform',
    severity: 'error',
    comment: 'One folder per concern of an HTTP service.',
    ...anyFileAt(
      `${PLATFORM}src/(?!(${PLATFORM_LADDER.join('|')})/|(?:index|feature)\\.ts$|platform\\.module\\.ts$|platform-metrics\\.ts$)`,
    ),
  },
  {
    name: 'no-orphans',
    severity: 'error',
    comment: 'A file that imports nothing and that nothing imports does nothing.',
    from: {
      orphan: true,
      pathNot: ['\\.(spec|e2e-spec|int-spec)\\.ts$', '\\.d\\.c?ts$', '^test/.*\\.[cm]js$', BROWSER],
    },
    to: {},
  },
  {
    name: 'no-cycles',
    severity: 'error',
    comment: 'Two files that need each other are one file, or three.',
    from: {},
    to: { circular: true },
  },
];

const SHIPPED = { path: '^(apps|libs)/', pathNot: TEST_CODE };

const shippingRules = [
  {
    name: 'no-test-code-in-product',
    severity: 'error',
    comment: 'Nothing that ships imports a test, a fake or a contract.',
    from: SHIPPED,
    to: { path: ['^test/', TEST_CODE] },
  },
  {
    name: 'no-dev-dependency-in-product',
    severity: 'error',
    comment: 'The image carries only `dependencies`; types are gone by then.',
    from: SHIPPED,
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'type-only'] },
  },
  {
    name: 'no-undeclared-package',
    severity: 'error',
    comment: 'A package that only another package brought can leave with it.',
    from: { path: '^(apps|libs|test)/' },
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'no-unresolvable',
    severity: 'error',
    comment: 'Every import leads somewhere.',
    from: { pathNot: BROWSER },
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [...folderRules, ...ladderRules, ...doorRules, ...treeRules, ...shippingRules],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Output of the client's own build.
    exclude: { path: '^libs/client/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // `source` resolves `#libs/<name>` to TypeScript. `import` finds packages that are ES modules only.
      conditionNames: ['source', 'node', 'require', 'import', 'default', 'types'],
    },
  },
};
