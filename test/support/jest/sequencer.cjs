// The order of the test files: those that take long are early, so that none of them is left over for the end, and apart,
// as several of them at once would keep one another waiting.
const { createRequire } = require('node:module');

/** Of the packages that jest itself is made of. */
const { default: Sequencer } = createRequire(require.resolve('jest'))('@jest/test-sequencer');

const TAKES_LONG =
  /\/(faults\/|architecture\/(import|lint)-rules|browser\/|e2e\/(admin|api-process|doc-examples|key-rotation|npm-start|pgbouncer|standbys)|integration\/(embedded-postgres|redis-failover|standbys))/;
/** So many others start between two of them. */
const APART = 2;

class SpreadSequencer extends Sequencer {
  sort(tests) {
    const sorted = super.sort([...tests]);
    const long = sorted.filter(({ path }) => TAKES_LONG.test(path));
    const others = sorted.filter(({ path }) => !TAKES_LONG.test(path));
    return [...long.flatMap((one) => [one, ...others.splice(0, APART)]), ...others];
  }
}

module.exports = SpreadSequencer;
