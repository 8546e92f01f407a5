// Commands that `npm test` runs, each in a process group of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A shell that outlives us. When its input ends, it ends the process group $1, at last by SIGKILL. */
const END_GROUP = `
  cat >/dev/null
  kill -TERM -"$1"
  for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 -"$1" || exit; sleep 0.5; done
  kill -KILL -"$1"`;

/** One end for each command that runs. */
const ends = new Set();

/** Ends the process group of a command, and resolves when it is gone. Without a call this happens when we are gone. */
function watchGroup(leader) {
  const shell = spawn('/bin/sh', ['-c', END_GROUP, 'sh', String(leader)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = new Promise((resolve) => shell.once('exit', resolve));
  const end = () => {
    shell.stdin.end();
    return gone;
  };
  ends.add(end);
  void gone.then(() => ends.delete(end));
  return end;
}

/** Ends every command that runs. */
export async function endCommands() {
  await Promise.all([...ends].map((end) => end()));
}

/**
 * Runs one command in a process group of its own, so that nothing it started outlives its limit, or us. What it writes
 * goes to `write`, or else straight to ours.
 */
export async function runCommand([program, ...args], { cwd, limit, write }) {
  // A report that also went to stdout would bury jest's own lines; those it writes to stderr.
  const quiet = args.includes('--json');
  const stdio = write ? ['ignore', 'pipe', 'pipe'] : ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'];
  const child = spawn(program, args, { cwd, detached: true, stdio });
  if (write) for (const stream of [child.stdout, child.stderr]) stream.on('data', write);
  const closed = new Promise((resolve) => child.once('close', resolve));
  try {
    await once(child, 'spawn');
  } catch (error) {
    console.log(`  could not start: ${error.message}`);
    return false;
  }
  const endGroup = watchGroup(child.pid);
  let isLate = false;
  const limitTimer = setTimeout(() => {
    isLate = true;
    console.log(`  stopped: not done after ${(limit / 60_000).toFixed(1)} minutes`);
    void endGroup();
  }, limit);
  const [code] = await once(child, 'exit');
  clearTimeout(limitTimer);
  // What the command left behind must not disturb the next one, nor keep its output open.
  await endGroup();
  await closed;
  return code === 0 && !isLate;
}
