import { keyInUse, madeAfter, newestFirst, usedFrom } from './key-rotation';

const NOW = Date.UTC(2026, 0, 1);
const aged = (...seconds: number[]) =>
  seconds.map((age) => ({ kid: `${age} s`, createdAt: NOW - age * 1000 })).sort(newestFirst);

describe('The current key', () => {
  it.each([
    ['the only key, at once', [0], '0 s'],
    ['the key before, while a new one is not known everywhere', [59.999, 3600], '3600 s'],
    ['the new one, once every instance must know it', [60, 3600], '60 s'],
    ['the newest of those that are old enough', [10, 61, 70, 3600], '61 s'],
    ['the first of a directory just made, whatever was added since', [1, 2, 3], '3 s'],
    ['the key before, while a clock that runs ahead made the new one', [-30, 3600], '3600 s'],
  ])('is %s', (_what, ages, kid) => {
    expect(keyInUse(aged(...ages), NOW)?.kid).toBe(kid);
  });

  it('is missing without keys', () => expect(keyInUse([], NOW)).toBeUndefined());

  it('is known in advance', () => {
    const [key] = aged(0);
    const keys = [...aged(0), ...aged(3600)];
    expect(keyInUse(keys, usedFrom(NOW) - 1)).not.toEqual(key);
    expect(keyInUse(keys, usedFrom(NOW))).toEqual(key);
  });

  it('is the same on every instance, for any order of the files', () => {
    const twins = [
      { kid: 'a', createdAt: NOW },
      { kid: 'b', createdAt: NOW },
    ];
    expect([...twins].reverse().sort(newestFirst)).toEqual([...twins].sort(newestFirst));
  });

  it('will be a key made now, even when the clock was set back since the newest', () => {
    expect(madeAfter(undefined, NOW)).toBe(NOW);
    expect(madeAfter({ kid: 'a', createdAt: NOW - 1 }, NOW)).toBe(NOW);
    expect(madeAfter({ kid: 'a', createdAt: NOW + 5000 }, NOW)).toBe(NOW + 5001);
  });
});
