import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionLost, Problem } from './problem';

export interface RetryPolicy {
  /** How often a request is sent at most. 1: never again. */
  readonly attempts: number;
  /** The first pause is at most this long; each further one at most twice the one before. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** An answer that asks for a longer wait than this is given to the caller instead. */
  readonly longestRetryAfterSeconds: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 5,
  firstPauseMs: 200,
  longestPauseMs: 10_000,
  longestRetryAfterSeconds: 60,
};

/** Answers after which the same request may succeed, and of which a write under a key is applied once all the same. */
const PASSING_STATUSES = [429, 502, 503, 504];

/** Makes attempts until one succeeds, fails for good, or was the last. Only for what may be sent twice: reads, and writes under a key. */
export async function retried<Result>(
  attempt: () => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal,
): Promise<Result> {
  for (let made = 1; ; made += 1) {
    try {
      return await attempt();
    } catch (error) {
      const pause = made < policy.attempts ? pauseAfter(error, made, policy) : null;
      if (pause === null) throw error;
      await sleep(pause, signal);
    }
  }
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
