import { MemoryTokenStore } from './memory-token-store';
import { TokenCache } from './token-cache';

const LIMITS = { waitMs: 30, renewalMs: 60 };
const aToken = (accessToken: string) => ({ accessToken, usableUntil: Date.now() + 60_000 });
const unheeded = () => new AbortController().signal;

describe('The token of an application', () => {
  it('is not taken for a call that was given up already', async () => {
    const issue = jest.fn(async () => aToken('a'));
    const cache = new TokenCache('one', new MemoryTokenStore(), issue, LIMITS);
    await expect(cache.get(null, AbortSignal.abort('given up'))).rejects.toBe('given up');
    expect(issue).not.toHaveBeenCalled();
  });

  it('is taken anew when a renewal has not ended in its time', async () => {
    const store = new MemoryTokenStore();
    const read = jest.spyOn(store, 'read').mockImplementationOnce(() => new Promise<never>(() => undefined));
    const cache = new TokenCache('one', store, async () => aToken('a'), LIMITS);
    await expect(cache.get(null, unheeded())).rejects.toMatchObject({ name: 'ConnectionLost' });
    await expect(cache.get(null, unheeded())).rejects.toMatchObject({ name: 'ConnectionLost' });
    expect(read).toHaveBeenCalledTimes(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await cache.get(null, unheeded())).toBe('a');
  });
});
