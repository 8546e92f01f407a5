// The tests of `npm test`.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { printOutcome } from './checks.mjs';
import { root, runCommand } from './command.mjs';

const MINUTE = 60_000;
/** More failing files than this are not flaky. */
const MOST_RUN_AGAIN = 8;

const results = join(root, 'test-results');

/** Runs the tests, then each failing file again alone. `timeLeft` returns the milliseconds left for the run. */
export async function runTests(isBuilt, timeLeft) {
  const since = performance.now();
  console.log('\n== tests');
  const projects = isBuilt ? ['unit', 'services', 'faults'] : ['unit'];
  const first = await runJest('jest.json', timeLeft(), '--selectProjects', ...projects);
  if (!isBuilt) console.log('  services and faults: not started, because the build failed');
  const again = await runAgain(first.failedFiles, timeLeft);
  const passed = first.passed + again.passed;
  const failed = first.failed - again.passed + (isBuilt ? 0 : 1);
  printOutcome('tests', failed === 0, since);
  return { passed, failed, leftOut: first.leftOut };
}

/** Runs these files alone. Counts and names tests that failed before and pass now. */
async function runAgain(files, timeLeft) {
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
  // Removes the old report, so that it cannot stand for a run that crashed.
  rmSync(report, { force: true });
  const command = [process.execPath, 'test/support/run/jest.mjs', '--json', `--outputFile=${report}`, ...words];
  const succeeded = await runCommand(command, { limit });
  const outcome = outcomeOf(report);
  // A crash, or a run without tests, counts as one failure.
  const unexplained = outcome.failed === 0 && (!succeeded || outcome.passed === 0);
  return { ...outcome, failed: outcome.failed + (unexplained ? 1 : 0) };
}

/** Reads jest's report: its counts, and the failed tests by file. A file that does not load is one failure. */
function outcomeOf(report) {
  try {
    const {
      numPassedTests,
      numFailedTests,
      numRuntimeErrorTestSuites,
      testResults,
      unfinished = [],
      leftOut = {},
    } = JSON.parse(readFileSync(report, 'utf8'));
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
