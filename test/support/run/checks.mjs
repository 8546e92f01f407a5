// The checks of `npm test` other than the tests.
import { node, runCommand } from './command.mjs';

const LIMIT = 6 * 60_000;

// npm names its own program in the environment, which saves a shell when `npm` is a script.
const npm = (...args) =>
  process.env.npm_execpath ? [process.execPath, process.env.npm_execpath, ...args] : ['npm', ...args];

/**
 * Keeps what it found, so that the next run takes less time. TypeScript 7 takes a third of the time of 6, but lacks the
 * interface that the build and the lint need.
 */
const checkTypes = ['--noEmit', '--incremental', '--tsBuildInfoFile', '.local/types.tsbuildinfo'];
export const types = { name: 'types', commands: [node('typescript7/bin/tsc', ...checkTypes)] };
export const build = { name: 'build', commands: [npm('run', '--silent', 'build')] };
export const lint = {
  name: 'lint',
  commands: [
    // A comment that tries to disable a rule is a warning, which must fail.
    node('eslint/bin/eslint.js', '.', '--max-warnings', '0'),
    node('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
  ],
};
export const importRules = {
  name: 'import rules',
  commands: [
    node('dependency-cruiser/bin/dependency-cruise.mjs', 'apps', 'libs', 'test', '--config', '.dependency-cruiser.cjs'),
  ],
};

/**
 * Generators of clients that have not passed this contract, if their tools are there. A run that must have all programs
 * also installs the generators.
 */
export const generators = {
  name: 'generators',
  commands: [
    [
      ...[process.execPath, 'test/contract/generators/run.mjs', '--changed'],
      ...(process.env.ALL_PROGRAMS === 'required' ? ['--install'] : []),
    ],
  ],
};

/** Runs checks one after the other. Prints the output of each at its end, because the tests print, too. */
export async function runInOrder(checks, { limit = () => LIMIT, priority } = {}) {
  const failed = [];
  for (const { name, commands } of checks) {
    const since = performance.now();
    const output = [];
    const write = (chunk) => output.push(chunk);
    let passed = true;
    for (const command of commands) passed = (await runCommand(command, { limit: limit(), write, priority })) && passed;
    console.log(`\n== ${name}`);
    process.stdout.write(Buffer.concat(output));
    printOutcome(name, passed, since);
    if (!passed) failed.push(name);
  }
  return { passed: checks.length - failed.length, failed };
}

export function printOutcome(name, passed, since) {
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(`== ${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`);
}
