import { RecentKeys } from './recent-keys';

describe('RecentKeys', () => {
  it('remembers the latest ten thousand', () => {
    const keys = new RecentKeys();
    for (let key = 0; key <= 10_000; key += 1) keys.add(`key ${key}`);
    expect([keys.has('key 0'), keys.has('key 1'), keys.has('key 10000')]).toEqual([false, true, true]);
    keys.add('key 1');
    keys.add('another');
    expect([keys.has('key 1'), keys.has('key 2')]).toEqual([true, false]);
  });

  it('forgets keys whose response is gone', () => {
    const keys = new RecentKeys();
    keys.add('key');
    keys.forget('key');
    expect(keys.has('key')).toBe(false);
  });
});
