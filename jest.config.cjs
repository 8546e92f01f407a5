const { availableParallelism } = require('node:os');

const shared = {
  runner: '<rootDir>/test/support/jest/runner.cjs',
  testEnvironment: '<rootDir>/test/support/jest/process-environment.cjs',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  transform: {
    '/node_modules/.+\\.(js|mjs|cjs)$': '<rootDir>/test/support/jest/installed-package.cjs',
    '^.+\\.(ts|js|mjs)$': [
      '@swc/jest',
      {
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
  // A dynamic import names the built file.
  moduleNameMapper: { '^(\\.{1,2}/.+)\\.js$': '$1' },
  // Packages are transformed, too, so that Node can load them.
  transformIgnorePatterns: [],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/libs/client/dist/', '<rootDir>/.local/'],
};

module.exports = {
  coverageProvider: 'v8',
  // Tests use real processes and databases on a busy machine. Minutes separate a hang from a wait.
  testTimeout: 180_000,
  // Tests mostly wait for processes, locks and clocks, so one worker per core would leave cores idle.
  maxWorkers: Math.min(2 * availableParallelism() + 1, 8),
  // A failed set-up may leave a server open, for which jest would wait.
  forceExit: true,
  // Leaves out, and counts, files whose programs are missing on this machine.
  filter: '<rootDir>/test/support/jest/needed-programs.cjs',
  testSequencer: '<rootDir>/test/support/jest/sequencer.cjs',
  reporters: ['default', '<rootDir>/test/support/jest/progress-report.cjs'],
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{apps,libs}/**/*.spec.ts',
        '<rootDir>/test/{architecture,benchmark,contract}/**/*.spec.ts',
      ],
    },
    {
      ...shared,
      displayName: 'services',
      testMatch: ['<rootDir>/test/**/*.{e2e,int}-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
    {
      ...shared,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.fault-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
    {
      ...shared,
      displayName: 'linearizable',
      testMatch: ['<rootDir>/test/linearizable/*.fault-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
