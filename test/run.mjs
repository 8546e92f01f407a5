// `npm test`: every check of this project in one run. Its last line is for whoever reads only that one.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endCommands, runCommand } from './support/command-group.mjs';
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

// A PATH that leads to Node alone lacks what the shells of a run use: cat and sleep.
process.env.PATH = [process.env.PATH, '/usr/bin', '/bin'].filter(Boolean).join(delimiter);

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, 'test-results');

const MINUTE = 60_000;
const CHECK_LIMIT = 6 * MINUTE;
/** Of everything. Whoever runs this may end it without a word some minutes later. */
const RUN_LIMIT = 13 * MINUTE;
/** More files than this do not fail by chance. */
const MOST_RUN_AGAIN = 8;

const node = (program, ...args) => [process.execPath, join(root, 'node_modules', program), ...args];
// Under npm its own program is named in the environment, which spares a shell where `npm` is a script.
const npm = (...args) =>
  process.env.npm_execpath ? [process.execPath, process.env.npm_execpath, ...args] : ['npm', ...args];

const types = { name: 'types', commands: [node('typescript/bin/tsc', '--noEmit')] };
const build = { name: 'build', commands: [npm('run', '--silent', 'build')] };
const lint = {
  name: 'lint',
  commands: [
    // A comment that tries to switch a rule off is a warning, and must not pass.
    node('eslint/bin/eslint.js', '.', '--max-warnings', '0'),
    node('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
  ],
};
const importRules = {
  name: 'import rules',
  commands: [
    node('dependency-cruiser/bin/dependency-cruise.mjs', 'apps', 'libs', 'test', '--config', '.dependency-cruiser.cjs'),
  ],
};
const jest = (report, ...words) => node('jest/bin/jest.js', '--json', `--outputFile=${report}`, ...words);

const begun = performance.now();

const run = (command, limit, write) => runCommand(command, { cwd: root, limit, write });
const timeLeft = () => RUN_LIMIT - (performance.now() - begun);

/** One check after the other, each told as a whole when it is done: another lane tells of its own. */
async function runLane(...checks) {
  const outcomes = [];
  for (const { name, commands } of checks) {
    const since = performance.now();
    const output = [];
    let passed = true;
    for (const command of commands) passed = (await run(command, CHECK_LIMIT, (chunk) => output.push(chunk))) && passed;
    console.log(`\n== ${name}`);
    process.stdout.write(Buffer.concat(output));
    tellOutcome(name, passed, since);
    outcomes.push(passed);
  }
  return outcomes;
}

function tellOutcome(name, passed, since) {
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(`== ${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`);
}

async function runTests(built) {
  const since = performance.now();
  console.log('\n== tests');
  const projects = built ? ['unit', 'services', 'faults'] : ['unit'];
  const first = await runJest('jest.json', timeLeft(), '--selectProjects', ...projects);
  if (!built) console.log('  services and faults: not started, because the build failed');
  const again = await runAgain(first.failedFiles);
  const passed = first.passed + again.passed;
  const failed = first.failed - again.passed + (built ? 0 : 1);
  tellOutcome('tests', failed === 0, since);
  return { passed, failed, leftOut: first.leftOut };
}

/** Of the tests in these files, how many that failed pass when the files run alone; each is named. */
async function runAgain(files) {
  const none = { passed: 0 };
  if (files.size === 0 || files.size > MOST_RUN_AGAIN || timeLeft() < MINUTE) return none;
  console.log(`\n== failed test files, alone`);
  const second = await runJest('jest-again.json', timeLeft(), '--runInBand', '--runTestsByPath', ...files.keys());
  const mended = [...files].filter(([file]) => second.passedFiles.has(file));
  for (const [file, failures] of mended) {
    console.log(`  passed alone, and failed beside others: ${relative(root, file)}`);
    for (const name of failures) console.log(`    ${name}`);
  }
  return { passed: mended.reduce((sum, [, failures]) => sum + Math.max(1, failures.length), 0) };
}

async function runJest(name, limit, ...words) {
  mkdirSync(results, { recursive: true });
  const report = join(results, name);
  // The report of an earlier run must not count for one that crashed.
  rmSync(report, { force: true });
  const succeeded = await run(jest(report, ...words), limit);
  const found = outcomeOf(report);
  // A crash and a run without tests fail without a failed test.
  const unexplained = found.failed === 0 && (!succeeded || found.passed === 0);
  return { ...found, failed: found.failed + (unexplained ? 1 : 0) };
}

/** What jest reported: its counts, and which files failed by which tests. A file that does not load is one failure. */
function outcomeOf(report) {
  try {
    const told = JSON.parse(readFileSync(report, 'utf8'));
    const {
      numPassedTests,
      numFailedTests,
      numRuntimeErrorTestSuites,
      testResults,
      unfinished = [],
      leftOut = {},
    } = told;
    for (const file of unfinished) console.log(`  not done: ${relative(root, file)}`);
    const failures = ({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    const ofStatus = (wanted) => testResults.filter(({ status }) => status === wanted);
    return {
      passed: numPassedTests,
      failed: numFailedTests + numRuntimeErrorTestSuites,
      failedFiles: new Map(ofStatus('failed').map((file) => [file.name, failures(file)])),
      passedFiles: new Set(ofStatus('passed').map((file) => file.name)),
      leftOut,
    };
  } catch {
    console.log('  jest left no report');
    return { passed: 0, failed: 0, failedFiles: new Map(), passedFiles: new Set(), leftOut: {} };
  }
}

async function main() {
  const [linted, others] = await Promise.all([runLane(lint), runLane(types, build, importRules)]);
  const checks = [...linted, ...others];
  const tests = await runTests(others[1]);
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
// npm that is killed says nothing.
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
