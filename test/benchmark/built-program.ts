import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { memoryOf } from './accounting';

const ROOT = join(__dirname, '../..');
const LOOK_EVERY_MS = 20;

let built = false;

/** Builds the project once in a run, because operators run the build. */
export function buildOnce(say: (line: string) => void): void {
  if (built) return;
  say('  building');
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed: ${stderr}`);
  built = true;
}

/** Returns the built file of a source file. */
export const builtFile = (source: string): string => join(ROOT, 'dist', source.replace(/\.ts$/, '.js'));

export interface FinishedProgram {
  readonly seconds: number;
  /** In bytes. NaN when the system does not report it. */
  readonly peakMemory: number;
  readonly output: string;
}

/** Runs a built file to its end. @throws its stderr unless it exits with 0 */
export async function runBuilt(
  source: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<FinishedProgram> {
  const since = performance.now();
  const child = spawn(process.execPath, [builtFile(source), ...words], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors, peakMemory] = ['', '', Number.NaN];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  // The system discards the peak when the process ends.
  const look = setInterval(() => (peakMemory = memoryOf(child.pid ?? 0)?.peak ?? peakMemory), LOOK_EVERY_MS);
  const [status] = (await once(child, 'close')) as [number | null];
  clearInterval(look);
  if (status !== 0) throw new Error(`${source} ${words[0]} ended with ${status}: ${errors || output}`);
  return { seconds: (performance.now() - since) / 1_000, peakMemory, output };
}
