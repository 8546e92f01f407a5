// The rules of the code itself. Which file may import which is in .dependency-cruiser.cjs; layout is prettier's.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const typed = ['{apps,libs,test}/**/*.ts'];
const scripts = ['**/*.{js,mjs,cjs}'];

const nodeNames = [
  'AbortController',
  'Buffer',
  'URL',
  'clearInterval',
  'clearTimeout',
  'console',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'structuredClone',
];
const commonJsNames = ['__dirname', '__filename', 'exports', 'module', 'require'];
const readonlyNames = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

const namedExportsOnly = [
  {
    selector: "ExportDefaultDeclaration, ExportSpecifier[exported.name='default'], TSExportAssignment",
    message: 'Export by name: one thing has one name wherever it is imported.',
  },
  {
    selector: 'ExportAllDeclaration',
    message: 'Name what leaves the file: a door lists what passes through it.',
  },
];

const fileLength = (max) => ['error', { max, skipBlankLines: true, skipComments: true }];

export default tseslint.config(
  {
    ignores: [
      ...['node_modules/', '**/dist/', '.local/', 'coverage/', 'test-results/', 'test/architecture/planted/'],
      // Generated: what it says is the contract's business.
      'libs/client/src/contract.ts',
    ],
  },
  {
    // A rule that can be switched off where it hurts is not a rule.
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' },
  },
  {
    files: [...typed, ...scripts],
    extends: [js.configs.recommended],
    rules: {
      // `== null` is the one loose comparison that says something: absent and null alike.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // What a client sends is refused by its control characters, and terminal output is read by its own.
      'no-control-regex': 'off',
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
    },
  },
  {
    files: typed,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // It leaves files with decorators alone: Nest reads the classes their constructors name when the program runs.
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      // An underscore says that the parameter is there for its type or its place.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // It also asks to drop the assertion that gives a name to what a library returns as `any`.
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      // A port's promise is asynchronous even where a fake or a guard has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // Empty classes carry Nest's metadata: a module is one.
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-restricted-syntax': ['error', ...namedExportsOnly],
    },
  },
  { files: ['{apps,libs}/**/*.{ts,mjs,cjs}'], rules: { 'max-lines': fileLength(250) } },
  { files: ['test/**/*.{ts,mjs,cjs}', '**/*.{spec,contract,fake}.ts'], rules: { 'max-lines': fileLength(400) } },
  { files: ['libs/**/*.ts'], rules: { 'no-console': 'error' } },
  {
    // The import rules let the package in; this says which name of it.
    files: ['libs/*/src/application/**/*.ts'],
    ignores: ['**/*.{spec,contract,fake}.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@nestjs/common',
              allowImportNames: ['Injectable'],
              message: 'The application takes of Nest only what makes it injectable.',
            },
          ],
        },
      ],
    },
  },
  {
    // jest calls the default export of these two.
    files: ['test/support/global-setup.ts', 'test/support/global-teardown.ts'],
    rules: { 'no-restricted-syntax': ['error', namedExportsOnly[1]] },
  },
  {
    // The first loads the built API by a path, so that the type checker does not follow it into the other app. The others
    // load what most processes never use.
    files: [
      'apps/local/src/api-child.ts',
      'libs/platform/src/observability/process-logger.ts',
      'libs/platform/src/observability/tracing.ts',
    ],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  { files: scripts, languageOptions: { globals: readonlyNames(nodeNames) } },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: readonlyNames(commonJsNames) } },
);
