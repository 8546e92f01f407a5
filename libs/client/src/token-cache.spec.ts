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

  it('is looked for once in the store, and taken once, for many calls at once', async () => {
    const store = new MemoryTokenStore();
    const [read, tryLock] = [jest.spyOn(store, 'read'), jest.spyOn(store, 'tryLock')];
    const issue = jest.fn(async () => aToken('a'));
    const cache = new TokenCache('one', store, issue, LIMITS);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => cache.get(null, unheeded())));
    expect(new Set(tokens)).toEqual(new Set(['a']));
    // Once before taking the lock and once after.
    expect([read, tryLock, issue].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 1]);
  });

  it('is taken once when many calls find the same one refused at once', async () => {
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

  it('is asked for anew when the renewal that a call joins finds the very one that was refused to it', async () => {
    const store = new MemoryTokenStore();
    await store.write('one', aToken('a'));
    const cache = new TokenCache('one', store, async () => aToken('b'), LIMITS);
    // The first call reads the store while the second learns that the stored token was refused.
    const both = await Promise.all([cache.get(null, unheeded()), cache.get('a', unheeded())]);
    expect(both).toEqual(['a', 'b']);
  });

  it('is kept by this process: the store is read again only when it is of no more use', async () => {
    const store = new MemoryTokenStore();
    await store.write('one', aToken('a'));
    const read = jest.spyOn(store, 'read');
    const cache = new TokenCache('one', store, async () => aToken('b'), LIMITS);
    for (let call = 0; call < 3; call += 1) expect(await cache.get(null, unheeded())).toBe('a');
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('is used by this process though the store could not keep it', async () => {
    const store = new MemoryTokenStore();
    jest.spyOn(store, 'write').mockRejectedValue(new Error('disk full'));
    const issue = jest.fn(async () => aToken('a'));
    const cache = new TokenCache('one', store, issue, LIMITS);
    await expect(cache.get(null, unheeded())).rejects.toThrow('disk full');
    expect(await cache.get(null, unheeded())).toBe('a');
    expect(issue).toHaveBeenCalledTimes(1);
  });

  it('is taken from the store no more when its time is over', async () => {
    const store = new MemoryTokenStore();
    await store.write('one', { accessToken: 'a', usableUntil: Date.now() - 1 });
    expect(await new TokenCache('one', store, async () => aToken('b'), LIMITS).get(null, unheeded())).toBe('b');
  });

  it('is taken anew when a renewal has not ended in its time', async () => {
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
