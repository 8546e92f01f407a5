// Orders the test files. Slow files run early, so that none remains for the end, and spread out, because several at
// once would slow each other down.
const { createRequire } = require('node:module');

/** Resolves packages of jest itself. */
const { default: Sequencer } = createRequire(require.resolve('jest'))('@jest/test-sequencer');

const TAKES_LONG =
  /\/(faults\/|architecture\/import-rules|browser\/|contract\/lint|e2e\/(admin|api-process|audit-checkpoint|console-import-processes|doc-examples|extending|key-rotation|long-streams|npm-(run-dev|start)|pgbouncer|python-file|standbys|stream-cuts|workload-identity)|integration\/(embedded-postgres|redis-failover|standbys))/;
/** Number of other files that start between two slow ones. */
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
