// Stryker's configuration: what is mutated, and the specs that must notice.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, '../..');
const unit = require('../../jest.config.cjs').projects.find(({ displayName }) => displayName === 'unit');

/** Pure code, whose specs stand beside it. */
const SUBJECTS = [
  'libs/auth/src/domain/trusted-issuer',
  'libs/auth/src/jwt/reachable-addresses',
  'libs/audit/src/domain/audit-tree',
  'libs/audit/src/system/tree-hashes',
  'libs/inventory/src/assets/domain/asset-patch',
  'libs/inventory/src/imports/domain/maps/map-functions',
  'libs/inventory/src/imports/domain/maps/time-text',
  'libs/platform/src/idempotency/idempotent-request',
  'libs/platform/src/pagination/cursors',
  'libs/platform/src/throttling/bucket',
].filter((subject) => subject.includes(process.env.MUTATED ?? ''));

// Stryker would pass over a missing file in silence.
for (const file of SUBJECTS.flatMap((subject) => [`${subject}.ts`, `${subject}.spec.ts`]))
  if (!existsSync(join(ROOT, file))) throw new Error(`${file} is missing.`);

export default {
  plugins: [join(process.env.STRYKER, '@stryker-mutator/jest-runner/dist/src/index.js')],
  testRunner: 'jest',
  jest: {
    projectType: 'custom',
    config: {
      // Stryker adds this to jest.config.cjs, whose projects would each run the specs, after their set-up.
      projects: [],
      ...unit,
      // Stryker runs every spec for each mutant, in one process.
      runner: undefined,
      displayName: undefined,
      // jest reads these folders at each start.
      roots: [...new Set(SUBJECTS.map((subject) => `<rootDir>/${subject.replace(/\/[^/]*$/, '')}`))],
      testMatch: SUBJECTS.map((subject) => `<rootDir>/${subject}.spec.ts`),
    },
    enableFindRelatedTests: false,
  },
  // Our environment of tests is not one that Stryker can extend.
  coverageAnalysis: 'off',
  concurrency: 1,
  mutate: SUBJECTS.map((subject) => `${subject}.ts`),
  ignorePatterns: ['dist', 'docker', 'test-results', '.local', 'coverage'],
  // Stryker would need a TypeScript of its own to read ours.
  tsconfigFile: 'none.json',
  tempDirName: process.env.STRYKER_DIRECTORY,
  reporters: ['clear-text', 'progress-append-only'],
  thresholds: { high: 95, low: 90, break: 90 },
};
