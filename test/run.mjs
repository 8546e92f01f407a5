// `npm test`: runs every check of this project. The last line is the outcome.
import { constants } from 'node:os';
import { delimiter } from 'node:path';
import { build, generators, importRules, lint, runInOrder, types } from './support/run/checks.mjs';
import { endCommands } from './support/run/command.mjs';
import { runTests } from './support/run/tests.mjs';
import needed from './support/jest/needed-programs.cjs';

const HELP = `Usage: npm test

Runs every check. A failed check does not stop the others. Runs
  build         npm run build
  tests         jest, the projects "unit", "services" and the short form of "faults"
and beside them, with less priority
  types         tsc --noEmit
  import rules  dependency-cruiser: who may import whom
  lint          eslint, then prettier --check
  generators    npm run test:generators -- --changed: only when the contract changed, with the generators of this machine

A failed test file runs a second time, alone. If it passes then, it counts as passed, and a line names it.
A test file is skipped when it needs a program that is missing and cannot be installed. A line names the program.
With ALL_PROGRAMS=required such a file fails instead.
When the build fails, "services" and "faults" do not run and count as one failure.
The run stops after an hour, and its last line says how far it came.

The last line is "N passed, N failed", over checks and tests. With skipped files it ends in ", N skipped".
Exit codes: 0 all passed, 1 something failed or no test ran.`;

// Shells of a run need rm and sleep, which a PATH with Node alone lacks.
process.env.PATH = [process.env.PATH, '/usr/bin', '/bin'].filter(Boolean).join(delimiter);

/** Limit of the whole run. Its caller may kill it without notice a few minutes later. */
const RUN_LIMIT = 60 * 60_000;
const begun = performance.now();
const timeLeft = () => RUN_LIMIT - (performance.now() - begun);

async function main() {
  const low = { limit: timeLeft, priority: constants.priority.PRIORITY_BELOW_NORMAL };
  const beside = [runInOrder([lint], low), runInOrder([types, importRules, generators], low)];
  const built = await runInOrder([build]);
  const tests = await runTests(built.failed.length === 0, timeLeft);
  const [linted, others] = await Promise.all(beside);
  const failedChecks = [...built.failed, ...linted.failed, ...others.failed];
  const passed = built.passed + linted.passed + others.passed + tests.passed;
  const failed = failedChecks.length + tests.failed;
  process.exitCode = failed === 0 ? 0 : 1;
  // A file that lacks two programs counts once.
  const skipped = new Set(Object.values(tests.leftOut).flat()).size;
  // A check's own lines are far above, among those of the tests.
  const failedLines = failedChecks.map((name) => `failed: ${name}`);
  console.log(['', ...needed.leftOutLines(tests.leftOut), ...failedLines].join('\n'));
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
}

async function stop() {
  await endCommands();
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
// A killed npm sends no signal.
const parent = process.ppid;
if (process.env.npm_execpath) setInterval(() => process.ppid === parent || stop(), 1000).unref();

const [argument] = process.argv.slice(2);
if (argument === '--help' || argument === '-h') {
  console.log(HELP);
} else if (argument !== undefined) {
  console.error(`Unknown argument ${argument}.\n\n${HELP}`);
  process.exitCode = 2;
} else {
  await main();
}
