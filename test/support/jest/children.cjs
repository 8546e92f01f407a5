// The processes that tests start. None of them outlives its test file, nor the process that runs it.
const { spawn } = require('node:child_process');
const diagnostics = require('node:diagnostics_channel');
const { once } = require('node:events');

/** It reads lines with the ids of all that run. When there are no more lines, we are gone, and it kills the last ones. */
const KILL_THE_REST = `
  while read -r line; do rest=$line; done
  kill -KILL $rest`;

/** By their ids. */
const running = new Map();
let isWatching = false;
let shell = null;

diagnostics.subscribe('child_process', ({ process: child }) => {
  if (isWatching) child.once('spawn', () => remember(child));
});

function remember(child) {
  running.set(child.pid, child);
  tellShell();
  child.once('exit', () => {
    running.delete(child.pid);
    tellShell();
  });
}

/** Keeps the shell up to date. Undertakers are not its business: they end by themselves when we are gone. */
function tellShell() {
  shell ??= startShell();
  const ids = [...running.values()].filter(({ isUndertaker }) => !isUndertaker).map(({ pid }) => pid);
  shell.stdin.write(`${ids.join(' ')}\n`);
}

function startShell() {
  const wasWatching = isWatching;
  isWatching = false;
  const started = spawn('/bin/sh', ['-c', KILL_THE_REST], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  isWatching = wasWatching;
  started.unref();
  started.stdin.unref();
  started.stdin.on('error', () => undefined);
  return started;
}

/** From now on what is started is remembered. */
function watch() {
  isWatching = true;
}

/** Ends what was started since and still runs, by its undertaker where it has one. */
async function endAll() {
  isWatching = false;
  const left = [...running.values()];
  const gone = left.map((child) => once(child, 'exit'));
  for (const child of left) {
    child.ref();
    if (child.isUndertaker) child.stdin.end();
    else child.kill('SIGKILL');
  }
  await Promise.all(gone);
}

// A worker whose jest is gone has nobody left to work for. To listen for that would keep it from ending otherwise.
if (process.send) setInterval(() => process.connected || process.exit(1), 1000).unref();

module.exports = { endAll, watch };
