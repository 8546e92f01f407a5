import { lintViolationsIn, ownLintRules, PlantedTree, type Violation } from './planted-tree';

interface Planted {
  readonly rule: string;
  readonly what: string;
  readonly file: string;
  readonly text: string;
}

const lines = (count: number) => Array.from({ length: count }, (_, i) => `export const line${i} = ${i};\n`).join('');

// Assembled from halves, because the rule against these words reads this file, too.
const unfinished = ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'];

const planted: readonly Planted[] = [
  {
    rule: '@typescript-eslint/no-explicit-any',
    what: 'an any',
    file: 'libs/planted/any.ts',
    text: 'export const anything = (value: any): unknown => value;\n',
  },
  {
    rule: '@typescript-eslint/no-floating-promises',
    what: 'a promise nobody waits for',
    file: 'apps/planted/floating.ts',
    text: 'export function start(open: () => Promise<void>): void {\n  open();\n}\n',
  },
  {
    rule: '@typescript-eslint/no-floating-promises',
    what: 'a promise nobody waits for in a test',
    file: 'test/planted/floating.ts',
    text: 'export function start(open: () => Promise<void>): void {\n  open();\n}\n',
  },
  {
    rule: '@typescript-eslint/no-misused-promises',
    what: 'a promise taken for its value',
    file: 'libs/planted/misused.ts',
    text: "export const word = (ready: Promise<boolean>): string => {\n  if (ready) return 'yes';\n  return 'no';\n};\n",
  },
  {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    what: 'a switch that forgets a case',
    file: 'libs/planted/switch.ts',
    text: "export function rank(of: 'low' | 'high'): number {\n  let rank = 0;\n  switch (of) {\n    case 'low':\n      rank = 1;\n      break;\n  }\n  return rank;\n}\n",
  },
  {
    rule: 'no-restricted-syntax',
    what: 'a default export',
    file: 'libs/planted/default-export.ts',
    text: 'export default class Planted {}\n',
  },
  {
    rule: 'no-restricted-syntax',
    what: 'a default export in a test',
    file: 'test/planted/default-export.ts',
    text: 'export default class Planted {}\n',
  },
  {
    rule: 'no-restricted-syntax',
    what: 'a default export by another way of writing',
    file: 'libs/planted/default-name.ts',
    text: 'const planted = 1;\nexport { planted as default };\n',
  },
  {
    rule: 'no-restricted-syntax',
    what: 'a file that is its one export',
    file: 'libs/planted/export-assignment.ts',
    text: 'const planted = 1;\nexport = planted;\n',
  },
  {
    rule: 'no-restricted-syntax',
    what: 'an export of everything under one name',
    file: 'libs/planted/namespace.ts',
    text: "export * as everything from './absent';\n",
  },
  {
    rule: 'no-restricted-syntax',
    what: 'an export of everything',
    file: 'libs/planted/index.ts',
    text: "export * from './any';\n",
  },
  {
    rule: 'no-restricted-syntax',
    what: 'an export of everything where jest needs a default export',
    file: 'test/support/global-teardown.ts',
    text: "export * from '../planted/floating';\n",
  },
  ...unfinished.map((word) => ({
    rule: 'no-warning-comments',
    what: `a comment that says ${word}`,
    file: `libs/planted/${word.toLowerCase()}.ts`,
    text: `// the rest, ${word} later\nexport const half = 1;\n`,
  })),
  {
    rule: 'max-lines',
    what: 'a file of the product longer than 250 lines',
    file: 'libs/planted/long.ts',
    text: lines(251),
  },
  {
    rule: 'max-lines',
    what: 'a script of the product longer than 250 lines',
    file: 'apps/planted/long.mjs',
    text: lines(251),
  },
  {
    rule: 'max-lines',
    what: 'a test longer than 400 lines',
    file: 'test/planted/long.ts',
    text: lines(401),
  },
  {
    rule: 'no-console',
    what: 'a library that prints',
    file: 'libs/planted/prints.ts',
    text: "console.log('here');\nexport const printed = true;\n",
  },
  {
    rule: 'eqeqeq',
    what: 'a loose comparison',
    file: 'libs/planted/loose.ts',
    text: 'export const same = (a: number, b: unknown): boolean => a == b;\n',
  },
  {
    rule: '@typescript-eslint/no-explicit-any',
    what: 'an any behind a comment that switches its rule off',
    file: 'libs/planted/disabled.ts',
    text: '/* eslint-disable */\nexport const anything = (value: any): unknown => value;\n',
  },
  {
    rule: '@typescript-eslint/ban-ts-comment',
    what: 'a comment that switches the compiler off',
    file: 'libs/planted/unchecked.ts',
    text: '// @ts-nocheck\nexport const unchecked = 1;\n',
  },
  {
    rule: '@typescript-eslint/consistent-type-imports',
    what: 'a type imported as if it were there when the program runs',
    file: 'libs/planted/type-import.ts',
    text: "import { Clock } from './clock';\nexport const year = (clock: Clock): number => clock.year;\n",
  },
  {
    rule: '@typescript-eslint/no-unused-vars',
    what: 'a parameter that nothing reads',
    file: 'libs/planted/unused.ts',
    text: 'export const one = (other: number): number => 1;\n',
  },
  {
    rule: '@typescript-eslint/restrict-template-expressions',
    what: 'a date in a text, in whatever form the machine gives it',
    file: 'libs/planted/template.ts',
    text: 'export const text = (value: Date): string => `${value}`;\n',
  },
  {
    rule: 'no-restricted-imports',
    what: 'a service that knows of HTTP',
    file: 'libs/planted/src/application/planted.service.ts',
    text: "import { Injectable, NotFoundException } from '@nestjs/common';\nexport const both = [Injectable, NotFoundException];\n",
  },
  {
    rule: 'no-unused-vars',
    what: 'a leftover in a script',
    file: 'apps/planted/leftover.mjs',
    text: 'const leftover = 1;\n',
  },
];

/** ESLint reports its own control comments without a rule's name. */
const isSwitch = (rule: string) => rule.includes('noInlineConfig');

const allowed: Readonly<Record<string, string>> = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'ES2022',
      lib: ['ES2023', 'DOM'],
      module: 'nodenext',
      strict: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      types: [],
      noEmit: true,
    },
    include: ['apps', 'libs', 'test'],
  }),
  'test/support/global-setup.ts': 'export default async function setUp(): Promise<void> {}\n',
  'libs/planted/at-the-limit.ts': `${'// why\n\n'.repeat(100)}${lines(250)}`,
  'libs/planted/at-the-limit.spec.ts': lines(400),
  'libs/planted/clock.ts': 'export class Clock {\n  readonly year: number = 2026;\n}\n',
  'libs/planted/decorated.ts':
    "import { Clock } from './clock';\nconst injectable = (_target: unknown): void => undefined;\n" +
    '@injectable\nexport class Calendar {\n  constructor(readonly clock: Clock) {}\n}\n',
  'libs/planted/src/application/allowed.service.ts':
    "import { Injectable } from '@nestjs/common';\nexport const injectable: unknown = Injectable;\n",
  'node_modules/@nestjs/common/package.json': JSON.stringify({ name: '@nestjs/common', types: 'index.d.ts' }),
  'node_modules/@nestjs/common/index.d.ts':
    'export declare const Injectable: number;\nexport declare const NotFoundException: number;\n',
  'libs/planted/ignored.ts': 'export const one = (_other: number): string => `${1}`;\n',
  'apps/planted/prints.ts': "console.log('here');\n",
  'libs/planted/absent.ts': 'export const absent = (value: unknown): boolean => value == null;\n',
};

describe('The lint rules', () => {
  let tree: PlantedTree;
  let violations: Violation[];

  beforeAll(() => {
    tree = new PlantedTree({ ...allowed, ...Object.fromEntries(planted.map(({ file, text }) => [file, text])) });
    violations = lintViolationsIn(tree);
  });

  afterAll(() => tree.remove());

  it.each(planted)('$rule catches $what', ({ rule, file }) => {
    const rules = violations.filter((violation) => violation.file === file).map((violation) => violation.rule);
    expect(rules.filter((name) => !isSwitch(name))).toEqual([rule]);
  });

  it('report a comment that disables a rule', () => {
    const files = violations.filter(({ rule }) => isSwitch(rule)).map(({ file }) => file);
    expect(files).toEqual(['libs/planted/disabled.ts']);
  });

  it('have a planted violation each', () => {
    const caught = new Set(planted.map(({ rule }) => rule));
    const own = ownLintRules();
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter((rule) => !caught.has(rule))).toEqual([]);
  });

  it('accept code that keeps them', () => {
    expect(violations.filter(({ file }) => file in allowed)).toEqual([]);
  });
});
