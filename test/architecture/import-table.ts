/** Files of a small project, by path. */
export type Files = Readonly<Record<string, string>>;

export const imports = (...paths: string[]) => paths.map((path) => `import '${path}';\n`).join('');

const LAYERS = ['domain', 'application', 'http', 'typeorm', 'redis', 'jwt', 'system'] as const;
type Layer = (typeof LAYERS)[number];

/** Import statements for everything that a file of a feature might import. */
const TARGETS = {
  ...(Object.fromEntries(LAYERS.map((layer) => [`its own ${layer}`, imports(`../${layer}/own`)])) as Record<
    `its own ${Layer}`,
    string
  >),
  kernel: imports('#libs/kernel'),
  platform: imports('#libs/platform'),
  'a type of platform': "import type { Database } from '#libs/platform';\n",
  'a type of audit': "import type { AuditEvent } from '#libs/audit';\n",
  auth: imports('#libs/auth'),
  '@nestjs/common': imports('@nestjs/common'),
  '@nestjs/core': imports('@nestjs/core'),
  '@nestjs/jwt': imports('@nestjs/jwt'),
  '@nestjs/platform-express': imports('@nestjs/platform-express'),
  '@nestjs/swagger': imports('@nestjs/swagger'),
  '@nestjs/typeorm': imports('@nestjs/typeorm'),
  'class-transformer': imports('class-transformer'),
  'class-validator': imports('class-validator'),
  canonicalize: imports('canonicalize'),
  'types of express': "import type { Request } from 'express';\n",
  ioredis: imports('ioredis'),
  pg: imports('pg'),
  'pg-copy-streams': imports('pg-copy-streams'),
  rxjs: imports('rxjs'),
  typeorm: imports('typeorm'),
  uuid: imports('uuid'),
  node: imports('node:fs'),
};
type Target = keyof typeof TARGETS;

const adapter = (layer: Layer, ...tools: Target[]): readonly Target[] => [
  ...(['its own domain', `its own ${layer}`, 'kernel', 'platform', 'a type of platform', 'a type of audit'] as const),
  ...(['@nestjs/common', 'node'] as const),
  ...tools,
];

/** Allowed imports by layer. Everything else is forbidden. */
const MAY_IMPORT: Readonly<Record<Layer, readonly Target[]>> = {
  domain: ['its own domain', 'kernel', 'a type of audit'],
  application: ['its own application', 'its own domain', 'kernel', 'a type of audit', '@nestjs/common'],
  http: [
    ...(['its own http', 'its own application', 'its own domain', 'kernel'] as const),
    ...(['platform', 'a type of platform', 'auth', 'types of express'] as const),
    ...(['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', '@nestjs/swagger'] as const),
    ...(['class-transformer', 'class-validator', 'rxjs'] as const),
  ],
  typeorm: adapter('typeorm', 'typeorm', '@nestjs/typeorm', 'pg', 'pg-copy-streams'),
  redis: adapter('redis', 'ioredis'),
  jwt: adapter('jwt', '@nestjs/jwt'),
  system: adapter('system', 'canonicalize', 'uuid'),
};

const FEATURE = 'libs/tabled/src';
const stem = (target: string) => target.replace(/[^a-z]+/g, '-').replace(/^-/, '');

export interface Crossing {
  readonly layer: Layer;
  readonly target: string;
  readonly verdict: 'may' | 'may not';
  readonly file: string;
  readonly text: string;
}

/** Every layer with every target: one file each, with nothing but this import. */
export const crossings: readonly Crossing[] = LAYERS.flatMap((layer) =>
  (Object.keys(TARGETS) as Target[]).map((target) => ({
    layer,
    target,
    verdict: MAY_IMPORT[layer].includes(target) ? ('may' as const) : ('may not' as const),
    file: `${FEATURE}/${layer}/imports-${stem(target)}.ts`,
    text: TARGETS[target],
  })),
);

/** The feature of the crossings, with a file to import in every folder. */
export const tabledFeature: Files = {
  [`${FEATURE}/index.ts`]: imports('./tabled.module'),
  [`${FEATURE}/tabled.module.ts`]: LAYERS.map((layer) => imports(`./${layer}/own`)).join(''),
  ...Object.fromEntries(LAYERS.map((layer) => [`${FEATURE}/${layer}/own.ts`, ''])),
};

/** Tests may import anything, from anywhere. */
export const testCode: Files = Object.fromEntries(
  [
    ...['libs/kernel/src', 'libs/platform/src/http', 'libs/auth/src/http', 'apps/api/src'],
    ...LAYERS.map((layer) => `${FEATURE}/${layer}`),
  ].flatMap((folder) =>
    ['fake', 'contract', 'spec'].map((role) => {
      const up = folder.replace(/[^/]+/g, '..');
      const anything = imports(
        ...['node:fs', 'pg', 'express', 'jest', '#libs/computers'],
        ...[`${up}/libs/inventory/src/typeorm/assets.typeorm`, `${up}/libs/inventory/src/index`],
        ...[`${up}/apps/admin/src/main`, `${up}/libs/inventory/src/domain/asset.spec`],
      );
      return [`${folder}/tested.${role}.ts`, anything];
    }),
  ),
);
