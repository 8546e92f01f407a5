import { FirstLines } from './first-lines';

describe('FirstLines', () => {
  it('returns the line that named an id first, among any number of ids', () => {
    const first = new FirstLines();
    const ids = Array.from({ length: 200_000 }, (_, index) => `arn:aws:s3:::bucket-${index}`);

    const once = ids.filter((id, index) => first.take(id, index + 1, 1) === null);
    const again = ids.filter((id, index) => first.take(id, 1_000_000 + index, 1)?.place === index + 1);

    expect([once.length, again.length]).toEqual([200_000, 200_000]);
  });

  it.each([
    ['numbers', (index: number) => String(index)],
    ['numbers of one length', (index: number) => `hr-${String(index).padStart(12, '0')}`],
    ['hexadecimal digits', (index: number) => index.toString(16)],
    ['paths', (index: number) => `/${index % 1000}/${(index >> 3) % 997}/${index}`],
    [
      'other scripts',
      (index: number) => `\u{1f5a8}${String.fromCodePoint(0x4e00 + (index % 20_000))}${index >> 4}-${index}`,
    ],
    ['what differs in its beginning', (index: number) => `${index}@example.com`],
  ])('distinguishes similar ids: %s', (_, idOf) => {
    const first = new FirstLines();

    const repeated = Array.from({ length: 400_000 }, (__, index) => first.take(idOf(index), index + 1, null));

    expect(repeated.filter((place) => place !== null)).toEqual([]);
  });

  it('distinguishes ids by case, by a space and by the form of an accent', () => {
    const first = new FirstLines();

    for (const id of ['a', 'A', 'a ', ' a', '', '\u00e9', 'e\u0301', 'aa', '\0'])
      expect(first.take(id, 1, null)).toBeNull();
  });

  it('tells whether a later line says the same, which a bad line never does', () => {
    const first = new FirstLines();
    first.take('good', 1, 1);
    first.take('bad', 2, null);

    expect(first.take('good', 3, 1)).toEqual({ place: 1, same: true });
    expect(first.take('good', 4, 2)).toEqual({ place: 1, same: false });
    expect(first.take('good', 5, null)).toEqual({ place: 1, same: false });
    expect(first.take('bad', 6, null)).toEqual({ place: 2, same: false });
  });
});
