// Ends processes and removes their files: on demand, and whenever the process that started them ends.
const { spawn } = require('node:child_process');
const diagnostics = require('node:diagnostics_channel');
const { once } = require('node:events');
const { chmodSync, mkdtempSync, realpathSync, statSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');
const { setImmediate: nextTurn } = require('node:timers/promises');

/**
 * Reads lines until its input ends. The last line holds the pids of the processes to end, each with its group if it
 * leads one. SIGINT lets Postgres shut down properly. SIGCONT wakes frozen processes for it. SIGKILL ends those that
 * still run after 5 s.
 */
const END_PROCESSES = `
  trap '' INT
  while read -r line; do running=$line; done
  signal() {
    found=1
    for pid in $running; do if kill -s "$1" -- "-$pid" || kill -s "$1" "$pid"; then found=0; fi; done
    return $found
  }
  tries=50
  signal INT && signal CONT
  while signal 0 && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
  signal KILL
`;

/** Repeats, because an ending process may still have written. */
const REMOVE_DIRECTORY = `
  tries=50
  until rm -rf "$1" || [ $((tries -= 1)) -le 0 ]; do sleep 0.1; done
`;

/** A shell that waits for the end of its input, in a session of its own that Ctrl-C does not reach. */
class Cleanup {
  running = new Set();

  /** The script runs after the processes have ended, with `words` as `$1`, `$2` and so on. */
  constructor(script = '', ...words) {
    const shell = spawn('/bin/sh', ['-c', END_PROCESSES + script, 'sh', ...words], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shell.unref();
    shell.stdin.unref();
    shell.stdin.on('error', () => undefined);
    // The cleanup of the whole process waits for this one: see ProcessCleanup.
    this.shell = Object.assign(shell, { isCleanup: true });
  }

  add(pid) {
    this.running.add(pid);
    this.tell();
  }

  remove(pid) {
    this.running.delete(pid);
    this.tell();
  }

  tell() {
    this.shell.stdin.write(`${[...this.running].join(' ')}\n`);
  }

  /** Resolves when the processes have ended and the script has run. */
  async run() {
    if (this.shell.exitCode !== null || this.shell.signalCode !== null) return;
    this.shell.ref();
    const done = once(this.shell, 'exit');
    this.shell.stdin.end();
    await done;
  }
}

/** Ends the processes that this process starts from now on, and removes its temporary directory. */
class ProcessCleanup extends Cleanup {
  others = new Set();

  constructor() {
    const directory = mkdtempSync(join([tmpdir(), '/var/tmp'].find(isReachable) ?? tmpdir(), 'compliance-test-'));
    // Postgres' own account must be able to pass through.
    chmodSync(directory, 0o711);
    super(REMOVE_DIRECTORY, directory);
    process.env.TMPDIR = directory;
    diagnostics.subscribe('child_process', this.onChild);
  }

  onChild = ({ process: child }) => {
    child.once('spawn', () => {
      this.add(child.pid);
      if (child.isCleanup) this.others.add(child);
    });
    child.once('exit', () => {
      this.remove(child.pid);
      this.others.delete(child);
    });
  };

  async run() {
    // A child's pid is available from the next tick on.
    await nextTurn();
    diagnostics.unsubscribe('child_process', this.onChild);
    for (const { stdin } of this.others) stdin.end();
    await super.run();
  }
}

/**
 * Tells whether every account may pass to the directory. Only root needs that, because its Postgres runs as another
 * account.
 */
function isReachable(directory) {
  if (process.getuid?.() !== 0) return true;
  for (let place = realpathSync(directory); place !== dirname(place); place = dirname(place)) {
    if ((statSync(place).mode & 0o001) === 0) return false;
  }
  return true;
}

module.exports = { Cleanup, ProcessCleanup };
