// Runs the test files in parallel, then those that say `@alone` in their first comment, one after the other. Those hold
// the product to times that a busy machine cannot keep.
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');

/** Resolves packages of jest itself. */
const { default: Runner } = createRequire(require.resolve('jest'))('jest-runner');

const ALONE = /^\/\*\*(?:(?!\*\/)[\s\S])*@alone\b/;

class RunnerOfTheRun extends Runner {
  async runTests(tests, watcher, options) {
    const alone = new Set(tests.filter(({ path }) => ALONE.test(readFileSync(path, 'utf8'))));
    const others = tests.filter((test) => !alone.has(test));
    if (others.length > 0) await super.runTests(others, watcher, options);
    if (alone.size === 0) return;
    this._globalConfig = { ...this._globalConfig, maxWorkers: 1 };
    await super.runTests([...alone], watcher, options);
  }
}

module.exports = RunnerOfTheRun;
