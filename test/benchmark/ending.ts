import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';

/** A program that we started ends with us at the latest, unless we are ended by SIGKILL. */
export function endWithUs(child: ChildProcess): void {
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.removeListener('exit', end));
}

/** Makes of what would end this process at once an exit, at which it is put in order what else would be left. */
export function exitWhenInterrupted(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
}
