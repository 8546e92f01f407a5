// Commands that this run started. None outlives it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const running = new Set();

/** Kills every command that still runs. */
export function killCommands() {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs a command and returns its output. @throws with its last lines when it fails or takes too long */
export async function run([program, ...words], { cwd, environment = {}, limitMs = 120_000 } = {}) {
  const child = spawn(program, words, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  try {
    const [code, signal] = await once(child, 'close');
    if (code === 0) return output;
    const lines = `${output.slice(-4_000)}${errors.slice(-4_000)}`.trim().split('\n').slice(-25).join('\n');
    throw new Error(`${program} ended with ${signal ?? code}:\n${lines}`);
  } finally {
    clearTimeout(late);
    running.delete(child);
  }
}
