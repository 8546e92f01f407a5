// `npm test`: runs every check of this project. The last line is the outcome.
import { delimiter } from 'node:path';
import { build, importRules, lint, runLane, types } from './support/run/checks.mjs';
import { endCommands } from './support/run/command.mjs';
import { runTests } from './support/run/tests.mjs';
import needed from './support/jest/needed-programs.cjs';

const HELP = `Usage: npm test

Runs, whatever the result of the one before, in two lanes at once:
  lint          eslint, then prettier --check
and
  types         tsc --noEmit
  build         npm run build
  import rules  dependency-cruiser: who may import whom
and then
  tests         jest, the projects "unit", "services" and "faults", the last in its short form

Test files that fail are run a second time, alone, when nothing else keeps the machine busy: what passes then is named, and
counts as passed. Without a build "services" and "faults" are not started, and count as one failure.
Test files that need a program which is not there and cannot be installed are left out. A line names each such program.
Under ALL_PROGRAMS=required no file is left out, and those files fail.
The last line is "N passed, N failed": one for each check, and jest's tests. Where files were left out ", N skipped"
follows, their number. After 13 minutes the run is stopped, and that
line says how far it came.
The exit status is 1 when anything failed or no test ran.`;

// Shells of a run need rm and sleep, which a PATH with Node alone lacks.
process.env.PATH = [process.env.PATH, '/usr/bin', '/bin'].filter(Boolean).join(delimiter);

/** Limit of the whole run. Its caller may kill it without notice a few minutes later. */
const RUN_LIMIT = 13 * 60_000;
const begun = performance.now();
const timeLeft = () => RUN_LIMIT - (performance.now() - begun);

async function main() {
  const [linted, others] = await Promise.all([runLane(lint), runLane(types, build, importRules)]);
  const checks = [...linted, ...others];
  const tests = await runTests(others[1], timeLeft);
  const passed = checks.filter(Boolean).length + tests.passed;
  const failed = checks.filter((one) => !one).length + tests.failed;
  process.exitCode = failed === 0 ? 0 : 1;
  // A file that lacks two programs counts once.
  const skipped = new Set(Object.values(tests.leftOut).flat()).size;
  console.log(['', ...needed.leftOutLines(tests.leftOut)].join('\n'));
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
