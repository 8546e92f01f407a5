// Commands that `npm test` runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import cleanups from '../cleanup.cjs';

export const root = join(import.meta.dirname, '../../..');

/** Returns the command line for a program in node_modules. */
export const node = (program, ...args) => [process.execPath, join(root, 'node_modules', program), ...args];

/** Cleanups of running commands. */
const running = new Set();

/** Ends every running command. */
export async function endCommands() {
  await Promise.all([...running].map((cleanup) => cleanup.run()));
}

/**
 * Runs one command in its own process group, so that nothing outlives its limit or us. Its output goes to `write`, or
 * directly to ours. Returns whether it succeeded.
 */
export async function runCommand([program, ...args], { limit, write, priority }) {
  // jest writes its lines to stderr. A report on stdout would bury them.
  const quiet = args.includes('--json');
  const stdio = write ? ['ignore', 'pipe', 'pipe'] : ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'];
  const child = spawn(program, args, { cwd: root, detached: true, stdio });
  if (write) for (const stream of [child.stdout, child.stderr]) stream.on('data', write);
  const closed = new Promise((resolve) => child.once('close', resolve));
  try {
    await once(child, 'spawn');
  } catch (error) {
    console.log(`  could not start: ${error.message}`);
    return false;
  }
  if (priority !== undefined) setPriority(child.pid, priority);
  const cleanup = new cleanups.Cleanup();
  cleanup.add(child.pid);
  running.add(cleanup);
  let isLate = false;
  const limitTimer = setTimeout(() => {
    isLate = true;
    console.log(`  stopped: not done after ${(limit / 60_000).toFixed(1)} minutes`);
    void cleanup.run();
  }, limit);
  const [code] = await once(child, 'exit');
  clearTimeout(limitTimer);
  // Leftover processes must not disturb the next command or keep its output open.
  await cleanup.run();
  running.delete(cleanup);
  await closed;
  return code === 0 && !isLate;
}
