import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program. @throws its output unless it exits with 0 */
export async function runToEnd(
  program: string,
  words: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
): Promise<void> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}: ${said}`);
}
