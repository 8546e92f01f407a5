import { crossings, type Files, imports, tabledFeature, testCode } from './import-table';
import { importViolationsIn, PlantedTree, type Violation } from './planted-tree';

const { forbidden } = jest.requireActual<{ forbidden: readonly { readonly name: string }[] }>(
  '../../.dependency-cruiser.cjs',
);

const together = (parts: readonly Files[]): Files => Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
const library = (name: string): Files => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
  [`node_modules/${name}/index.js`]: 'module.exports = {};\n',
});

const dependencies = [
  ...[
    '@nestjs/common',
    '@nestjs/core',
    '@nestjs/jwt',
    '@nestjs/platform-express',
    '@nestjs/swagger',
    '@nestjs/typeorm',
  ],
  ...['canonicalize', 'class-transformer', 'class-validator', 'eta', 'uuid'],
  ...['express', 'ioredis', 'pg', 'pg-copy-streams', 'rxjs'],
  ...['typeorm', 'twice-declared'],
];
const devDependencies = ['jest', 'openapi-fetch', 'twice-declared'];
const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));

/** From the lowest layer to the highest. */
const PLATFORM_LADDER = [
  ...[
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
  ],
  ...['input', 'throttling', 'pagination', 'change-pages', 'streams', 'idempotency', 'health', 'process'],
];
const INVENTORY_LADDER = ['tag-keys', 'assets', 'imports', 'changes', 'history'];
const TEST_ROLES = ['fake', 'contract', 'spec', 'e2e-spec', 'int-spec'];

/** Imports that the architecture allows beyond the table. A rule that reports one of these is too strict. */
const allowed: Files = {
  'package.json': JSON.stringify({
    name: 'planted',
    imports: {
      '#libs/platform/*': { source: './libs/platform/src/*/index.ts' },
      '#libs/*/feature': { source: './libs/*/src/feature.ts' },
      '#libs/*/module': { source: './libs/*/src/*.module.ts' },
      '#libs/*/operators': { source: './libs/*/src/operators.ts' },
      '#libs/*': { source: './libs/*/src/index.ts' },
    },
    dependencies: versions(dependencies),
    devDependencies: versions(devDependencies),
  }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: { module: 'nodenext', moduleResolution: 'nodenext', customConditions: ['source'] },
  }),
  ...together([...dependencies, ...devDependencies, 'stowaway'].map(library)),

  'libs/kernel/src/index.ts': imports('./page'),
  'libs/kernel/src/page.ts': '',

  'libs/platform/src/index.ts': imports('./platform.module', './redis/connection'),
  'libs/platform/src/platform.module.ts': imports('./redis/connection', '@nestjs/common'),
  'libs/platform/src/redis/connection.ts': imports('#libs/kernel', 'ioredis', 'node:net'),
  ...Object.fromEntries(
    PLATFORM_LADDER.flatMap((folder) => [
      [`libs/platform/src/${folder}/concern.ts`, imports('#libs/kernel')],
      [`libs/platform/src/${folder}/index.ts`, imports('./concern')],
    ]),
  ),
  'libs/platform/src/http/server/index.ts': imports('./connections'),
  'libs/platform/src/http/server/connections.ts': imports('../concern', '../../config/concern'),

  'libs/local-postgres/src/index.ts': imports('./cluster/location'),
  'libs/local-postgres/src/cluster/location.ts': imports('#libs/platform/config', 'node:fs'),

  'libs/audit/src/index.ts': imports('./audit.module'),
  'libs/audit/src/operators.ts': imports('./audit-operator.module'),
  'libs/audit/src/audit.module.ts': imports('./typeorm/recorder.typeorm', '#libs/platform/database'),
  'libs/audit/src/audit-operator.module.ts': imports('./domain/event'),
  'libs/audit/src/domain/event.ts': imports('#libs/kernel'),
  'libs/audit/src/typeorm/recorder.typeorm.ts': imports('../domain/event', '#libs/platform/database'),

  'libs/auth/src/index.ts': imports('./auth.module'),
  'libs/auth/src/auth.module.ts': imports('./jwt/signer.jwt', './system/secrets.system', '#libs/platform', 'node:fs'),
  'libs/auth/src/domain/scope.ts': imports('#libs/kernel'),
  'libs/auth/src/jwt/signer.jwt.ts': imports('../domain/scope', '@nestjs/jwt', 'node:crypto'),
  'libs/auth/src/system/secrets.system.ts': imports('../domain/scope', 'node:crypto'),

  'libs/inventory/src/index.ts': imports('./inventory.module'),
  'libs/inventory/src/feature.ts':
    imports('#libs/inventory/module', './typeorm/assets.typeorm') + "import type { Feature } from '#libs/platform';\n",
  'libs/inventory/src/inventory.module.ts': imports('./http/assets.controller', './typeorm/assets.typeorm'),
  'libs/inventory/src/domain/asset.ts': imports('#libs/kernel'),
  'libs/inventory/src/domain/asset.spec.ts': imports('./asset'),
  'libs/inventory/src/application/assets.service.ts': imports('../domain/asset', '@nestjs/common', '#libs/kernel'),
  'libs/inventory/src/http/assets.controller.ts':
    imports('../application/assets.service', '../domain/asset', '#libs/platform', '#libs/auth', '@nestjs/swagger') +
    imports('class-validator', 'class-transformer', 'rxjs') +
    "import type { Request } from 'express';\n",
  'libs/inventory/src/typeorm/assets.typeorm.ts':
    imports('../domain/asset', '#libs/platform', '@nestjs/common', 'typeorm', 'pg') +
    imports('node:stream', './migrations/1780000000010-assets'),
  'libs/inventory/src/typeorm/migrations/1780000000010-assets.ts': '',
  ...Object.fromEntries(
    INVENTORY_LADDER.map((slice) => [`libs/inventory/src/${slice}/domain/own.ts`, imports('#libs/kernel')]),
  ),
  'libs/inventory/src/imports/typeorm/rows.ts':
    imports('../domain/own', '../../assets/domain/own', '#libs/audit') + imports('../../tag-keys/domain/own'),

  'libs/client/package.json': JSON.stringify({ name: 'planted-client', dependencies: versions(['openapi-fetch']) }),
  'libs/client/src/index.ts': imports('./compliance-client'),
  'libs/client/src/compliance-client.ts': imports('openapi-fetch', 'node:crypto', './contract'),
  'libs/client/src/contract.ts': '',
  'libs/client/dist/index.js': imports('stowaway'),

  'libs/computers/src/index.ts': imports('./computers.module'),
  'libs/computers/src/computers.module.ts': imports('#libs/auth', '@nestjs/common'),

  'libs/console/src/index.ts': imports('./console.module'),
  'libs/console/src/operators.ts': imports('./typeorm/people'),
  'libs/console/src/console.module.ts': imports('./http/page.controller', '#libs/inventory', '@nestjs/common'),
  'libs/console/src/domain/person.ts': imports('#libs/kernel'),
  'libs/console/src/typeorm/people.ts': imports('../domain/person', 'typeorm', '#libs/platform/database'),
  'libs/console/src/http/page.controller.ts':
    imports('../typeorm/people', '../domain/person', '#libs/inventory', '#libs/audit/operators', 'node:crypto') +
    imports('eta', 'rxjs', '@nestjs/common', '#libs/platform/http'),
  'apps/whole-schema.ts': imports('./features', '#libs/console'),
  'apps/features.ts': imports('#libs/inventory/feature', '#libs/audit/operators'),
  'apps/api/src/main.ts': imports(
    '#libs/auth',
    '#libs/computers',
    '#libs/platform/http/server',
    './server',
    '../../features',
  ),
  'apps/api/src/server.ts': imports('express', 'twice-declared') + "import type { Config } from 'jest';\n",
  'apps/admin/src/main.ts': imports('#libs/console/operators', '#libs/local-postgres', '../../whole-schema'),
  'apps/admin/run.mjs': imports('../local/build.mjs'),
  'apps/local/build.mjs': '',
  'test/support/start.ts': imports('../../apps/api/src/main', '../../libs/inventory/src/domain/asset', 'jest'),
  'test/support/register.cjs': '',
  'test/support/globals.d.ts': '',
  ...Object.fromEntries(['spec', 'e2e-spec', 'int-spec'].map((role) => [`test/alone.${role}.ts`, ''])),

  ...tabledFeature,
  ...testCode,
};

interface Planted {
  readonly file: string;
  readonly text: string;
  /** Other files that the planted file needs to break only its own rule. */
  readonly beside?: Files;
}

const plant = (file: string, text: string, beside: Planted['beside'] = {}): Planted => ({ file, text, beside });
const inventory = 'libs/inventory/src';

const planted: Readonly<Record<string, readonly Planted[]>> = {
  'domain-may-import': [
    plant(`${inventory}/domain/planted-framework.ts`, imports('@nestjs/common')),
    plant(`${inventory}/domain/planted-node.ts`, imports('node:fs')),
    plant(`${inventory}/domain/planted-platform.ts`, "import type { Database } from '#libs/platform';\n"),
    plant(`${inventory}/domain/planted-adapter.ts`, imports('../typeorm/assets.typeorm')),
    plant('libs/auth/src/domain/planted-adapter.ts', imports('../jwt/signer.jwt')),
  ],
  'application-may-import': [
    plant(`${inventory}/application/planted-adapter.service.ts`, imports('../typeorm/assets.typeorm')),
    plant(`${inventory}/application/planted-tool.service.ts`, imports('typeorm')),
    plant(`${inventory}/application/planted-platform.service.ts`, imports('#libs/platform')),
  ],
  'http-may-import': [
    plant(`${inventory}/http/planted-adapter.controller.ts`, imports('../typeorm/assets.typeorm')),
    plant(`${inventory}/http/planted-tool.controller.ts`, imports('pg')),
    plant(`${inventory}/http/planted-node.controller.ts`, imports('node:fs')),
  ],
  'typeorm-may-import': [
    plant(`${inventory}/typeorm/planted-service.typeorm.ts`, imports('../application/assets.service')),
    plant(`${inventory}/typeorm/planted-tool.typeorm.ts`, imports('ioredis')),
  ],
  'redis-may-import': [
    plant(`${inventory}/redis/planted-tool.redis.ts`, imports('pg')),
    plant(`${inventory}/redis/planted-neighbour.redis.ts`, imports('../typeorm/assets.typeorm')),
  ],
  'jwt-may-import': [plant('libs/auth/src/jwt/planted-tool.jwt.ts', imports('typeorm'))],
  'system-may-import': [
    plant('libs/auth/src/system/planted-tool.system.ts', imports('pg')),
    plant(`${inventory}/system/planted-http.system.ts`, imports('../http/assets.controller')),
  ],
  'kernel-imports-nothing': [
    plant('libs/kernel/src/planted-node.ts', imports('node:crypto')),
    plant('libs/kernel/src/planted-package.ts', imports('@nestjs/common')),
    plant('libs/kernel/src/planted-type.ts', "import type { DataSource } from 'typeorm';\n"),
  ],
  ...Object.fromEntries(
    PLATFORM_LADDER.slice(0, -1).map((rung, place) => [
      `platform-${rung}-steps-down`,
      [plant(`libs/platform/src/${rung}/planted-rung.ts`, imports(`../${PLATFORM_LADDER[place + 1] ?? ''}/concern`))],
    ]),
  ),
  ...Object.fromEntries(
    INVENTORY_LADDER.slice(0, -1).map((rung, place) => [
      `inventory-${rung}-steps-down`,
      [
        plant(
          `${inventory}/${rung}/domain/planted-up.ts`,
          imports(`../../${INVENTORY_LADDER[place + 1] ?? ''}/domain/own`),
        ),
      ],
    ]),
  ),
  'docs-site-stands-on-platform': [plant('libs/docs-site/src/planted-up.ts', imports('#libs/audit'))],
  'local-postgres-stands-on-platform': [plant('libs/local-postgres/src/planted-up.ts', imports('#libs/audit'))],
  'production-runs-without-local-postgres': [
    plant('apps/api/src/planted-postgres.ts', imports('#libs/local-postgres')),
    plant(`${inventory}/planted-postgres.module.ts`, imports('#libs/local-postgres')),
  ],
  'audit-stands-on-platform': [plant('libs/audit/src/planted-up.module.ts', imports('#libs/auth'))],
  'audit-as-types-in-the-core': [
    plant(`${inventory}/domain/planted-audit.ts`, imports('#libs/audit')),
    plant(`${inventory}/assets/application/planted-audit.service.ts`, imports('#libs/audit')),
  ],
  'platform-stands-on-kernel': [plant('libs/platform/src/http/planted-up.ts', imports('#libs/auth'))],
  'auth-stands-on-audit': [plant('libs/auth/src/planted-up.module.ts', imports('#libs/inventory'))],
  'features-stand-side-by-side': [plant(`${inventory}/planted-sideways.module.ts`, imports('#libs/computers'))],
  'libs-never-import-apps': [
    plant('libs/platform/src/http/planted-app.ts', imports('../../../../apps/api/src/server')),
  ],
  'client-stands-alone': [
    plant('libs/client/src/planted-lib.ts', imports('../../kernel/src/page')),
    plant('libs/client/src/planted-type.ts', "import type { Page } from '../../kernel/src/index';\n"),
  ],
  'server-never-imports-its-client': [
    plant('apps/api/src/planted-client.ts', imports('#libs/client')),
    plant('libs/platform/src/http/planted-client.ts', imports('#libs/client')),
    plant(`${inventory}/planted-client.module.ts`, imports('#libs/client')),
  ],
  'nothing-knows-the-console': [plant('apps/api/src/planted-console.ts', imports('#libs/console'))],
  'console-pages-may-import': [plant('libs/console/src/http/planted-tool.controller.ts', imports('pg'))],
  'apps-stand-alone': [plant('apps/admin/src/planted-app.ts', imports('../../api/src/server'))],
  'doors-are-the-only-way-in': [
    plant('apps/api/src/planted-window.ts', imports('../../../libs/inventory/src/domain/asset')),
    plant('libs/platform/src/http/planted-window.ts', imports('../../../kernel/src/page')),
  ],
  'libs-are-called-by-name': [
    plant('apps/api/src/planted-path.ts', imports('../../../libs/inventory/src/index')),
    plant('libs/platform/src/http/planted-path.ts', imports('../../../kernel/src/index')),
  ],
  'platform-door-names-its-own': [plant('libs/platform/src/http/body/index.ts', imports('../concern'))],
  'door-names-its-own': [
    plant('libs/planted/src/index.ts', imports('./planted.module', '#libs/auth'), {
      'libs/planted/src/planted.module.ts': '',
    }),
  ],
  'module-may-import': [plant(`${inventory}/planted-tool.module.ts`, imports('pg'))],
  'express-as-types-in-http': [plant(`${inventory}/http/planted-express.controller.ts`, imports('express'))],
  'libs-live-in-src': [
    plant('libs/inventory/tools/planted.ts', imports('../src/domain/asset')),
    plant('libs/kernel/planted.ts', imports('./src/page')),
    plant('libs/planted.ts', imports('./kernel/src/page')),
  ],
  'kernel-is-flat': [plant('libs/kernel/src/paging/planted.ts', imports('../page'))],
  'client-is-flat': [plant('libs/client/src/stores/planted.ts', imports('../contract'))],
  'migrations-under-typeorm': [
    plant(`${inventory}/domain/migrations/planted.ts`, imports('../asset')),
    plant('libs/platform/src/database/migrations/planted.ts', imports('../../redis/connection')),
    plant('libs/platform/src/health/records/migrations/planted.ts', imports('../../concern')),
  ],
  'no-unknown-folder-in-a-feature': [
    plant(`${inventory}/helpers/planted.ts`, imports('../domain/asset')),
    plant(`${inventory}/planted-beside-the-folders.ts`, imports('./domain/asset')),
  ],
  'no-unknown-folder-in-platform': [plant('libs/platform/src/mail/planted.ts', imports('#libs/kernel'))],
  'no-orphans': [plant('libs/platform/src/http/planted-orphan.ts', '')],
  'no-cycles': [
    plant('apps/api/src/planted-cycle.ts', imports('./planted-cycle-back'), {
      'apps/api/src/planted-cycle-back.ts': imports('./planted-cycle'),
    }),
    plant('apps/api/src/planted-type-cycle.ts', "import type { Back } from './planted-type-cycle-back';\n", {
      'apps/api/src/planted-type-cycle-back.ts': "import type { Cycle } from './planted-type-cycle';\n",
    }),
  ],
  'no-test-code-in-product': [
    plant('apps/api/src/planted-test.ts', imports('../../../test/support/start')),
    ...TEST_ROLES.map((role) =>
      plant(`${inventory}/domain/planted-${role}.ts`, imports(`./asset-planted.${role}`), {
        [`${inventory}/domain/asset-planted.${role}.ts`]: '',
      }),
    ),
  ],
  'no-dev-dependency-in-product': [plant('apps/api/src/planted-dev.ts', imports('jest'))],
  'no-undeclared-package': [
    plant('apps/api/src/planted-undeclared.ts', imports('stowaway')),
    plant('libs/platform/src/http/planted-undeclared.ts', imports('stowaway')),
    // The surrounding project has these packages, but the client's own package.json does not declare them.
    plant('libs/client/src/planted-undeclared.ts', imports('ioredis')),
    plant('test/support/planted-undeclared.ts', imports('stowaway')),
  ],
  'no-unresolvable': [
    plant('apps/api/src/planted-nowhere.ts', imports('./nowhere')),
    plant('libs/kernel/src/planted-nowhere.ts', imports('./nowhere')),
    plant('libs/auth/src/jwt/planted-nowhere.ts', imports('nowhere')),
    plant(`${inventory}/domain/planted-nowhere.ts`, imports('#libs/nowhere')),
    plant(`${inventory}/planted-nowhere.module.ts`, imports('./nowhere')),
  ],
};

const plants = Object.entries(planted).flatMap(([rule, each]) => each.map((violation) => ({ rule, ...violation })));

describe('The import rules', () => {
  const crossed = Object.fromEntries(crossings.map(({ file, text }) => [file, text]));
  let tree: PlantedTree;
  let violations: Violation[];

  beforeAll(() => {
    tree = new PlantedTree(
      together([allowed, crossed, ...plants.map(({ file, text, beside }) => ({ [file]: text, ...beside }))]),
    );
    violations = importViolationsIn(tree);
  });

  afterAll(() => tree.remove());

  const rulesBrokenBy = (files: readonly string[]) => [
    ...new Set(violations.filter(({ file }) => files.includes(file)).map(({ rule }) => rule)),
  ];

  it.each(plants)('$rule catches $file, and no other rule does', ({ rule, file, beside }) => {
    expect(rulesBrokenBy([file, ...Object.keys(beside ?? {})])).toEqual([rule]);
  });

  it.each(crossings)('$layer $verdict import $target', ({ layer, verdict, file }) => {
    expect(rulesBrokenBy([file])).toEqual(verdict === 'may' ? [] : [`${layer}-may-import`]);
  });

  it('have a planted violation each', () => {
    const names = forbidden.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(planted).sort()).toEqual([...names].sort());
  });

  it('accept what the architecture allows', () => {
    expect(violations.filter(({ file }) => file in allowed)).toEqual([]);
  });
});
