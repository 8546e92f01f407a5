// For NODE_OPTIONS=--require: SIGUSR2 runs garbage collection and appends one line of JSON to MEMORY_REPORT_FILE.
const { appendFileSync } = require('node:fs');
const v8 = require('node:v8');
const vm = require('node:vm');

const file = process.env.MEMORY_REPORT_FILE;
let warnings = 0;

if (file) {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  process.on('warning', () => (warnings += 1));
  process.on('SIGUSR2', () => {
    // Twice, with a turn in between: the second collection frees objects that the first finalized.
    collect();
    setImmediate(() => {
      collect();
      const { heapUsed, external, rss } = process.memoryUsage();
      const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
      const sockets = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length;
      appendFileSync(file, `${JSON.stringify({ used: heapUsed + external, rss, listeners, sockets, warnings })}\n`);
    });
  });
}
