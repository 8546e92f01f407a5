import { ConnectionLost, Problem } from './problem';
import { DEFAULT_RETRY, pauseAfter, retried } from './retry';

const problem = (status: number, code: string, retryAfterSeconds: number | null = null) =>
  new Problem(code, status, '', [], null, retryAfterSeconds);
const pausesAfter = (error: unknown, made: number) =>
  Array.from({ length: 200 }, () => pauseAfter(error, made, DEFAULT_RETRY) ?? NaN);

describe('The pause before another attempt', () => {
  it('is random below a bound that doubles up to ten seconds', () => {
    for (const [made, bound] of [
      [1, 200],
      [2, 400],
      [4, 1_600],
      [9, 10_000],
    ] as const) {
      const pauses = pausesAfter(new ConnectionLost(new Error('gone')), made);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...pauses)).toBeLessThan(bound);
      expect(Math.max(...pauses)).toBeGreaterThan(bound / 2);
      expect(new Set(pauses).size).toBeGreaterThan(100);
    }
  });

  it('is never shorter than Retry-After', () => {
    const pauses = pausesAfter(problem(429, 'rate_limited', 2), 1);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...pauses)).toBeLessThan(2_200);
    // Clients that received the same Retry-After return at different times.
    expect(new Set(pauses).size).toBeGreaterThan(100);
  });

  it.each([
    [429, 'rate_limited'],
    [503, 'service_unavailable'],
    [502, 'unexpected_answer'],
    [504, 'unexpected_answer'],
    [409, 'idempotency_in_progress'],
  ])('follows %i %s', (status, code) => {
    expect(pauseAfter(problem(status, code), 1, DEFAULT_RETRY)).not.toBeNull();
  });

  it.each([
    [400, 'validation_failed'],
    [401, 'invalid_client'],
    [403, 'insufficient_scope'],
    [404, 'not_found'],
    [409, 'idempotency_conflict'],
    [412, 'precondition_failed'],
    [500, 'internal_error'],
  ])('does not follow %i %s', (status, code) => {
    expect(pauseAfter(problem(status, code), 1, DEFAULT_RETRY)).toBeNull();
  });

  it('does not follow a response that asks for more than a minute, nor a programming error', () => {
    expect(pauseAfter(problem(429, 'rate_limited', 61), 1, DEFAULT_RETRY)).toBeNull();
    expect(pauseAfter(new RangeError('ours'), 1, DEFAULT_RETRY)).toBeNull();
  });
});

describe('Attempts', () => {
  it('are limited by the policy, and the last failure is thrown', async () => {
    let made = 0;
    const attempt = () => Promise.reject(new ConnectionLost(new Error(`attempt ${(made += 1)}`)));
    const policy = { ...DEFAULT_RETRY, firstPauseMs: 1, attempts: 3 };
    await expect(retried(attempt, policy, new AbortController().signal)).rejects.toThrow('attempt 3');
    expect(made).toBe(3);
  });

  it('do not count a 429, after which another worker may take the token of the bucket', async () => {
    const refusals = Array.from({ length: 9 }, () => problem(429, 'rate_limited'));
    const attempt = () => {
      const refusal = refusals.pop();
      return refusal ? Promise.reject(refusal) : Promise.resolve('done');
    };
    const policy = { ...DEFAULT_RETRY, firstPauseMs: 0, attempts: 2 };

    await expect(retried(attempt, policy, new AbortController().signal)).resolves.toBe('done');
  });

  it('end with a 429 when the time of the call is over, or retries are disabled', async () => {
    const attempt = jest.fn(() => Promise.reject(problem(429, 'rate_limited', 1)));
    const { signal } = new AbortController();
    const failure = { code: 'rate_limited' };

    await expect(retried(attempt, { ...DEFAULT_RETRY, attempts: 1 }, signal)).rejects.toMatchObject(failure);
    expect(attempt).toHaveBeenCalledTimes(1);
    await expect(retried(attempt, { ...DEFAULT_RETRY, longestCallMs: 1_500 }, signal)).rejects.toMatchObject(failure);
    expect(attempt.mock.calls.length).toBeLessThanOrEqual(3);
  });
});

describe('A problem', () => {
  const answer = (body: string, headers: Record<string, string>) =>
    Problem.of(new Response(body, { status: 503, statusText: 'Service Unavailable', headers }));

  it('of a gateway is described by its status', async () => {
    expect(await answer('<html>', { 'X-Request-Id': 'r-1' })).toMatchObject({
      code: 'unexpected_answer',
      status: 503,
      detail: 'Service Unavailable',
      errors: [],
      requestId: 'r-1',
      retryAfterSeconds: null,
    });
  });

  it('reads Retry-After as seconds and as a date', async () => {
    expect((await answer('{}', { 'Retry-After': '7' })).retryAfterSeconds).toBe(7);
    const date = new Date(Date.now() + 90_000).toUTCString();
    expect((await answer('{}', { 'Retry-After': date })).retryAfterSeconds).toBeGreaterThan(80);
    expect((await answer('{}', { 'Retry-After': 'soon' })).retryAfterSeconds).toBeNull();
  });

  it.each([-7_200_000, 7_200_000])('reads a date by the clock that set it, %i ms from ours', async (away) => {
    const now = Date.now() + away;
    const [date, sentAt] = [now + 30_000, now].map((time) => new Date(time).toUTCString()) as [string, string];
    expect((await answer('{}', { 'Retry-After': date, Date: sentAt })).retryAfterSeconds).toBe(30);
  });
});
