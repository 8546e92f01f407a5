// Rules for the code itself. Import rules are in .dependency-cruiser.cjs; prettier does the layout.
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
const browserNames = [
  'MutationObserver',
  'ResizeObserver',
  'SwaggerUIBundle',
  'crypto',
  'document',
  'localStorage',
  'matchMedia',
  'navigator',
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
    ignores: ['node_modules/', '**/dist/', '.local/', 'coverage/', 'test-results/'],
  },
  {
    // Rules must not be disabled inline.
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' },
  },
  {
    files: [...typed, ...scripts],
    extends: [js.configs.recommended],
    rules: {
      // `== null` is allowed: it covers absent and null.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // Client input is checked for control characters, and terminal output contains some.
      'no-control-regex': 'off',
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'anywhere' }],
    },
  },
  {
    files: typed,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: 'tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // Skips files with decorators: Nest reads the classes that constructors name at run time.
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      // An underscore marks a parameter that is needed for its type or position only.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // This rule would also remove assertions that give a type to a library's `any`.
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      // A port's promise is asynchronous even when a fake or a guard awaits nothing.
      '@typescript-eslint/require-await': 'off',
      // Empty classes carry Nest's metadata, such as modules.
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-restricted-syntax': ['error', ...namedExportsOnly],
    },
  },
  { files: ['{apps,libs}/**/*.{ts,mjs,cjs}'], rules: { 'max-lines': fileLength(250) } },
  { files: ['test/**/*.{ts,mjs,cjs}', '**/*.{spec,contract,fake}.ts'], rules: { 'max-lines': fileLength(400) } },
  // Generated from the contract.
  { files: ['libs/client/src/contract.ts'], rules: { 'max-lines': 'off' } },
  { files: ['libs/**/*.ts'], rules: { 'no-console': 'error' } },
  {
    // The import rules allow the package; this rule allows only one of its names.
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
  {
    files: ['libs/docs-site/src/browser/*.js'],
    languageOptions: { globals: readonlyNames(browserNames) },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: readonlyNames(commonJsNames) } },
);
