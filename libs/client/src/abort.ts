import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves to the result of `work`, unless the signal aborts first; then throws the signal's reason. The work
 * continues, and its later failure is ignored.
 */
export async function abortable<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  work.catch(() => undefined);
  signal.throwIfAborted();
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    // A signal may outlive thousands of calls.
    signal.removeEventListener('abort', giveUp);
  }
}

/** The longest time of a timer in Node. A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs `work` with a signal that aborts when `signal` does, or with a `TimeoutError` after `milliseconds`. */
export async function withTimeout<Result>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const giveUp = () => controller.abort(signal?.reason);
  // Many calls may share it. None leaves its listener.
  if (signal) setMaxListeners(0, signal);
  signal?.addEventListener('abort', giveUp, { once: true });
  const timer = setTimeout(
    () => {
      controller.abort(new DOMException(`it took longer than ${milliseconds} ms`, 'TimeoutError'));
    },
    Math.min(milliseconds, LONGEST_TIMER_MS),
  );
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Pauses unless the signal aborts first; then throws the signal's reason. */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  // Node wraps the reason, but the caller expects the original one.
  await delay(Math.min(milliseconds, LONGEST_TIMER_MS), undefined, { signal }).catch(() => signal?.throwIfAborted());
}
