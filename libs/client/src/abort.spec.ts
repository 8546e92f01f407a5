import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from './abort';

describe('Work that nobody waits for any more', () => {
  it('may fail without ending the process', async () => {
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
});
