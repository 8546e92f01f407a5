import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable, sleep, withTimeout } from './abort';

describe('An aborted call', () => {
  it('may fail later without ending the process', async () => {
    const left: unknown[] = [];
    const note = (error: unknown) => void left.push(error);
    process.on('unhandledRejection', note);
    try {
      const work = delay(5).then(() => Promise.reject(new Error('late')));
      await expect(abortable(work, AbortSignal.abort('given up'))).rejects.toBe('given up');
      await delay(20);
      expect(left).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  it('leaves no listener on the signal, which may outlive thousands of calls', async () => {
    const { signal } = new AbortController();
    await withTimeout(signal, 1_000, (limited) => abortable(Promise.resolve(abortable(delay(1), signal)), limited));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('A signal', () => {
  it('serves any number of calls at once without a warning of a leak', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown) => void warnings.push(warning);
    process.on('warning', note);
    try {
      const { signal } = new AbortController();
      await Promise.all(Array.from({ length: 20 }, () => withTimeout(signal, 1_000, () => delay(1))));
      await delay(5);
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', note);
    }
  });
});

describe('A pause', () => {
  it.each([Infinity, 2 ** 31])('of %d ms does not end at once', async (milliseconds) => {
    const pause = sleep(milliseconds, AbortSignal.timeout(50));

    await expect(pause).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
