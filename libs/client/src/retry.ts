import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from './abort';
import { ConnectionLost, Problem } from './problem';

export interface RetryPolicy {
  /** How often a request is sent at most. 1: never again. */
  readonly attempts: number;
  /** The first pause is at most this long; each further one at most twice the one before. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** An answer that asks for a longer wait than this is given to the caller instead. */
  readonly longestRetryAfterSeconds: number;
  /**
   * A call is over after this long, whatever it waits for. It must be shorter than the server keeps the answers of keys
   * (`IDEMPOTENCY_TTL_SECONDS`, a day by default): an update sent again after that would be applied again.
   */
  readonly longestCallMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 5,
  firstPauseMs: 200,
  longestPauseMs: 10_000,
  longestRetryAfterSeconds: 60,
  longestCallMs: 120_000,
};

/** Answers after which the same request may succeed, and of which a write under a key is applied once all the same. */
const PASSING_STATUSES = [429, 502, 503, 504];

/**
 * Makes attempts until one succeeds, fails for good, or was the last, or the time of the call is over; then the last
 * failure is thrown. Only for what may be sent twice: reads, and writes under a key. An attempt must heed its signal.
 */
export async function retried<Result>(
  attempt: (signal: AbortSignal) => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal,
): Promise<Result> {
  const end = Date.now() + policy.longestCallMs;
  return withTimeout(signal, policy.longestCallMs, async (limited) => {
    let failure: Error | null = null;
    for (let made = 1; ; made += 1) {
      try {
        return await attempt(limited);
      } catch (error) {
        signal.throwIfAborted();
        if (limited.aborted) throw failure ?? new ConnectionLost(error);
        failure = error as Error;
        const pause = made < policy.attempts ? pauseAfter(error, made, policy) : null;
        if (pause === null || Date.now() + pause >= end) throw error;
        await sleep(pause, signal);
      }
    }
  });
}

/**
 * Milliseconds to wait before the next attempt; null when there is no point in one. The pause is drawn at random below a
 * bound that doubles, so that clients that failed together do not come back together; `Retry-After` is added to it.
 */
export function pauseAfter(error: unknown, made: number, policy: RetryPolicy): number | null {
  const bound = Math.min(policy.longestPauseMs, policy.firstPauseMs * 2 ** (made - 1));
  const jitter = Math.random() * bound;
  if (error instanceof ConnectionLost) return jitter;
  if (!(error instanceof Problem) || !mayPass(error)) return null;
  const asked = error.retryAfterSeconds ?? 0;
  return asked > policy.longestRetryAfterSeconds ? null : asked * 1000 + jitter;
}

function mayPass({ status, code }: Problem): boolean {
  return PASSING_STATUSES.includes(status) || code === 'idempotency_in_progress';
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  // Node wraps the reason; whoever aborted looks for their own.
  await delay(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
