const { availableParallelism } = require('node:os');

const shared = {
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
  // Packages are transformed too, into what makes Node load them.
  transformIgnorePatterns: [],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/libs/client/dist/', '<rootDir>/.local/'],
};

module.exports = {
  coverageProvider: 'v8',
  // Real processes and databases on a busy machine: what hangs is told from what waits by minutes, not by seconds.
  testTimeout: 180_000,
  // Most of what the tests do is to wait, for processes, locks and clocks: as many workers as cores leave those idle.
  maxWorkers: Math.min(2 * availableParallelism(), 8),
  // A test whose set-up fails may leave a server open in this process, for which jest would wait.
  forceExit: true,
  // Files whose programs this machine lacks are left out, and counted.
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
  ],
};
