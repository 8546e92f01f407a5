import { MemoryTokenStore } from './memory-token-store';
import { TokenCache } from './token-cache';

const LIMITS = { waitMs: 30, renewalMs: 60 };
const aToken = (accessToken: string) => ({ accessToken, usableUntil: Date.now() + 60_000 });
const unheeded = () => new AbortController().signal;

describe('The token of an application', () => {
  it('is not requested for an aborted call', async () => {
    const issue = jest.fn(async () => aToken('a'));
    const cache = new TokenCache('one', new MemoryTokenStore(), issue, LIMITS);
    await expect(cache.get(null, AbortSignal.abort('given up'))).rejects.toBe('given up');
    expect(issue).not.toHaveBeenCalled();
  });

  it('is read once from the store and requested once for concurrent calls', async () => {
    const store = new MemoryTokenStore();
    const [read, tryLock] = [jest.spyOn(store, 'read'), jest.spyOn(store, 'tryLock')];
    const issue = jest.fn(async () => aToken('a'));
    const cache = new TokenCache('one', store, issue, LIMITS);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => cache.get(null, unheeded())));
    expect(new Set(tokens)).toEqual(new Set(['a']));
    // Once before taking the lock and once after.
    expect([read, tryLock, issue].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 1]);
  });

  it('is requested once when concurrent calls get the same one refused', async () => {
    const store = new MemoryTokenStore();
    const answers = ['a', 'b', 'c'];
    const issue = jest.fn(async () => aToken(answers.shift() as string));
    const cache = new TokenCache('one', store, issue, LIMITS);
    await cache.get(null, unheeded());
    const tryLock = jest.spyOn(store, 'tryLock');
    const tokens = await Promise.all(Array.from({ length: 20 }, () => cache.get('a', unheeded())));
    expect(new Set(tokens)).toEqual(new Set(['b']));
    expect([tryLock, issue].map(({ mock }) => mock.calls.length)).toEqual([1, 2]);
    // A token that was refused earlier must not trigger another renewal.
    expect(await cache.get('a', unheeded())).toBe('b');
    expect(issue).toHaveBeenCalledTimes(2);
  });

  it('is requested again when a joined renewal returns the refused one', async () => {
    const store = new MemoryTokenStore();
    await store.write('one', aToken('a'));
    const cache = new TokenCache('one', store, async () => aToken('b'), LIMITS);
    // The first call reads the store while the second learns that the stored token was refused.
    const both = await Promise.all([cache.get(null, unheeded()), cache.get('a', unheeded())]);
    expect(both).toEqual(['a', 'b']);
  });

  it('is cached in the process, which reads the store again only when it is unusable', async () => {
    const store = new MemoryTokenStore();
    await store.write('one', aToken('a'));
    const read = jest.spyOn(store, 'read');
    const cache = new TokenCache('one', store, async () => aToken('b'), LIMITS);
    for (let call = 0; call < 3; call += 1) expect(await cache.get(null, unheeded())).toBe('a');
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('is used although the store could not keep it', async () => {
    const store = new MemoryTokenStore();
    jest.spyOn(store, 'write').mockRejectedValue(new Error('disk full'));
    const issue = jest.fn(async () => aToken('a'));
    const cache = new TokenCache('one', store, issue, LIMITS);
    await expect(cache.get(null, unheeded())).rejects.toThrow('disk full');
    expect(await cache.get(null, unheeded())).toBe('a');
    expect(issue).toHaveBeenCalledTimes(1);
  });

  it('is no longer taken from the store when it has expired', async () => {
    const store = new MemoryTokenStore();
    await store.write('one', { accessToken: 'a', usableUntil: Date.now() - 1 });
    expect(await new TokenCache('one', store, async () => aToken('b'), LIMITS).get(null, unheeded())).toBe('b');
  });

  it('is requested again when a renewal did not end in time', async () => {
    const store = new MemoryTokenStore();
    const read = jest.spyOn(store, 'read').mockImplementationOnce(() => new Promise<never>(() => undefined));
    const cache = new TokenCache('one', store, async () => aToken('a'), { waitMs: 30, renewalMs: 1_000 });
    await expect(cache.get(null, unheeded())).rejects.toMatchObject({ name: 'ConnectionLost' });
    await expect(cache.get(null, unheeded())).rejects.toMatchObject({ name: 'ConnectionLost' });
    expect(read).toHaveBeenCalledTimes(1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await cache.get(null, unheeded())).toBe('a');
  });
});
