// Runs the test files in parallel, then those that say `@quiet` in their first comment, three at a time. A busy machine
// disturbs them.
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');

/** Resolves packages of jest itself. */
const { default: Runner } = createRequire(require.resolve('jest'))('jest-runner');

const QUIET = /^\/\*\*(?:(?!\*\/)[\s\S])*@quiet\b/;

class RunnerOfTheRun extends Runner {
  async runTests(tests, watcher, options) {
    const quiet = new Set(tests.filter(({ path }) => QUIET.test(readFileSync(path, 'utf8'))));
    const { maxWorkers } = this._globalConfig;
    for (const [files, atOnce] of [
      [tests.filter((test) => !quiet.has(test)), maxWorkers],
      [[...quiet], Math.min(3, maxWorkers)],
    ]) {
      if (files.length === 0) continue;
      this._globalConfig = { ...this._globalConfig, maxWorkers: atOnce };
      await super.runTests(files, watcher, options);
    }
  }
}

module.exports = RunnerOfTheRun;
