// Runs the test files in parallel, then those that say `@quiet` in their first comment, two at a time, then those that
// say `@alone`, one after the other. A busy machine disturbs the former, and any other file the latter.
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');

/** Resolves packages of jest itself. */
const { default: Runner } = createRequire(require.resolve('jest'))('jest-runner');

const TAG = /^\/\*\*(?:(?!\*\/)[\s\S])*@(quiet|alone)\b/;

class RunnerOfTheRun extends Runner {
  async runTests(tests, watcher, options) {
    const { maxWorkers } = this._globalConfig;
    const tagged = tests.map((test) => ({ test, tag: TAG.exec(readFileSync(test.path, 'utf8'))?.[1] }));
    const runTagged = async (wanted, atOnce) => {
      const files = tagged.filter(({ tag }) => tag === wanted).map(({ test }) => test);
      if (files.length === 0) return;
      this._globalConfig = { ...this._globalConfig, maxWorkers: Math.min(atOnce, maxWorkers) };
      await super.runTests(files, watcher, options);
    };
    await runTagged(undefined, maxWorkers);
    await runTagged('quiet', 2);
    await runTagged('alone', 1);
  }
}

module.exports = RunnerOfTheRun;
