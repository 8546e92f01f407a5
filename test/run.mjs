// `npm test`: every check of this project in one run. Its last line is for whoever reads only that one.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HELP = `Usage: npm test

Runs, in this order and whatever the result of the one before:
  types         tsc --noEmit
  build         npm run build
  lint          eslint, then prettier --check
  import rules  dependency-cruiser: who may import whom
  tests         jest, the projects "unit", "services" and "faults", the last in its short form

Without a build "services" and "faults" are not started, and count as one failure.
The last line is "N passed, N failed": one for each check, and jest's tests.
The exit status is 1 when anything failed or no test ran.`;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const report = join(root, 'test-results', 'jest.json');

const MINUTE = 60_000;
const CHECK_LIMIT = 4 * MINUTE;
const TESTS_LIMIT = 20 * MINUTE;
/** From the request to stop until the end of those who did not: jest needs it to stop the servers it started. */
const GRACE = 15_000;

const node = (program, ...args) => [process.execPath, join(root, 'node_modules', program), ...args];
// Under npm its own program is named in the environment, which spares a shell where `npm` is a script.
const npm = (...args) =>
  process.env.npm_execpath ? [process.execPath, process.env.npm_execpath, ...args] : ['npm', ...args];

const checks = [
  { name: 'types', commands: [node('typescript/bin/tsc', '--noEmit')] },
  { name: 'build', commands: [npm('run', '--silent', 'build')] },
  {
    name: 'lint',
    commands: [
      // A comment that tries to switch a rule off is a warning, and must not pass.
      node('eslint/bin/eslint.js', '.', '--max-warnings', '0'),
      node('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
    ],
  },
  {
    name: 'import rules',
    commands: [
      node(
        'dependency-cruiser/bin/dependency-cruise.mjs',
        'apps',
        'libs',
        'test',
        '--config',
        '.dependency-cruiser.cjs',
      ),
    ],
  },
];
const jest = (...projects) =>
  node('jest/bin/jest.js', '--json', `--outputFile=${report}`, '--selectProjects', ...projects);

let running = null;

/** Runs one command in a process group of its own, so that nothing it started outlives its limit. */
function run([program, ...args], limit) {
  return new Promise((resolve) => {
    // A report that also went to stdout would bury jest's own lines; those it writes to stderr.
    const quiet = args.includes('--json');
    const child = spawn(program, args, {
      cwd: root,
      detached: true,
      stdio: ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'],
    });
    running = child;
    let late = null;
    const limitTimer = setTimeout(() => {
      console.log(`  stopped: not done after ${limit / MINUTE} minutes`);
      signalGroup(child, 'SIGTERM');
      late = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE);
    }, limit);
    const settle = (succeeded) => {
      clearTimeout(limitTimer);
      clearTimeout(late);
      // What the command left behind must not disturb the next one.
      if (late) signalGroup(child, 'SIGKILL');
      running = null;
      resolve(succeeded && !late);
    };
    child.on('error', (error) => {
      console.log(`  could not start: ${error.message}`);
      settle(false);
    });
    child.on('exit', (code) => settle(code === 0));
  });
}

function signalGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has ended already.
  }
}

async function runCheck({ commands }) {
  let passed = true;
  for (const command of commands) passed = (await run(command, CHECK_LIMIT)) && passed;
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function runTests(built) {
  mkdirSync(dirname(report), { recursive: true });
  // The report of an earlier run must not count for one that crashed.
  rmSync(report, { force: true });
  const succeeded = await run(built ? jest('unit', 'services', 'faults') : jest('unit'), TESTS_LIMIT);
  const { passed, failed } = countsOf(report);
  // A crash, a test file that does not load and a run without tests fail without a failed test.
  const unexplained = failed === 0 && (!succeeded || passed === 0);
  if (!built) console.log('  services and faults: not started, because the build failed');
  return { passed, failed: failed + (unexplained ? 1 : 0) + (built ? 0 : 1) };
}

function countsOf(path) {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(path, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
  } catch {
    console.log('  jest left no report');
    return { passed: 0, failed: 0 };
  }
}

async function main() {
  let built = true;
  const steps = [
    ...checks.map((check) => ({ name: check.name, start: () => runCheck(check) })),
    { name: 'tests', start: () => runTests(built) },
  ];
  const total = { passed: 0, failed: 0 };
  for (const { name, start } of steps) {
    console.log(`\n== ${name}`);
    const begin = performance.now();
    const { passed, failed } = await start();
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`== ${name}: ${failed === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
    if (name === 'build') built = failed === 0;
    total.passed += passed;
    total.failed += failed;
  }
  process.exitCode = total.failed === 0 ? 0 : 1;
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    if (running) signalGroup(running, signal);
    process.exit(1);
  });
}

const [argument] = process.argv.slice(2);
if (argument === '--help' || argument === '-h') {
  console.log(HELP);
} else if (argument !== undefined) {
  console.error(`Unknown argument ${argument}.\n\n${HELP}`);
  process.exitCode = 2;
} else {
  await main();
}
