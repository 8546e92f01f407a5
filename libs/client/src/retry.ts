import { sleep, withTimeout } from './abort';
import { ConnectionLost, Problem } from './problem';

export interface RetryPolicy {
  /** Maximum number of times a request is sent; attempts that got a 429 do not count. 1 disables retries. */
  readonly attempts: number;
  /** Upper bound of the first pause. The bound doubles with each attempt, up to ten seconds. */
  readonly firstPauseMs: number;
  /** A response that asks for a longer wait is returned to the caller. */
  readonly longestRetryAfterSeconds: number;
  /**
   * Maximum duration of a call. Must be shorter than the server keeps idempotency keys (`IDEMPOTENCY_TTL_SECONDS`, a
   * day by default): a later repetition would be applied again.
   */
  readonly longestCallMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 5,
  firstPauseMs: 200,
  longestRetryAfterSeconds: 60,
  longestCallMs: 120_000,
};

/** Completes a policy by the defaults. */
export function policyOf(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_RETRY, ...Object.fromEntries(set) };
}

const LONGEST_PAUSE_MS = 10_000;

/** Statuses after which the same request may succeed. A write with a key is still applied only once. */
const PASSING_STATUSES = [429, 502, 503, 504];

/**
 * Repeats an attempt until it succeeds, fails for good, was the last, or the time of the call is over. Then throws the
 * last failure. Only for requests that may be sent twice: reads, and writes with a key. Attempts must obey their
 * signal.
 */
export async function retried<Result>(
  attempt: (signal: AbortSignal) => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const end = Date.now() + policy.longestCallMs;
  return withTimeout(signal, policy.longestCallMs, async (limited) => {
    let failure: Error | null = null;
    let uncounted = 0;
    for (let made = 1; ; made += 1) {
      try {
        return await attempt(limited);
      } catch (error) {
        signal?.throwIfAborted();
        if (limited.aborted) throw failure ?? new ConnectionLost(error);
        failure = error as Error;
        // Other calls may have been faster. Only the time of the call limits how often it asks again.
        if (isRateLimited(error) && policy.attempts > 1) uncounted += 1;
        const pause = made - uncounted < policy.attempts ? pauseAfter(error, made, policy) : null;
        if (pause === null || Date.now() + pause >= end) throw error;
        await sleep(pause, signal);
      }
    }
  });
}

/**
 * Returns the milliseconds before the next attempt, or null when a retry is pointless. The pause is random below a
 * doubling bound, so that clients that failed together return at different times. `Retry-After` is added to it.
 */
export function pauseAfter(error: unknown, made: number, policy: RetryPolicy): number | null {
  const bound = Math.min(LONGEST_PAUSE_MS, policy.firstPauseMs * 2 ** (made - 1));
  const jitter = Math.random() * bound;
  if (!mayPass(error)) return null;
  const asked = error instanceof Problem ? (error.retryAfterSeconds ?? 0) : 0;
  return asked > policy.longestRetryAfterSeconds ? null : asked * 1000 + jitter;
}

/** Whether the same request may succeed later. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  if (!(error instanceof Problem)) return false;
  return PASSING_STATUSES.includes(error.status) || error.code === 'idempotency_in_progress';
}

function isRateLimited(error: unknown): boolean {
  return error instanceof Problem && error.status === 429;
}
