import { csvLine } from './csv';

describe('A line of CSV', () => {
  it('quotes every cell, and doubles quotes', () => {
    expect(csvLine(['a', 1, true, null, new Date(0), 'say "x", y'])).toBe(
      '"a","1","true","","1970-01-01T00:00:00.000Z","say ""x"", y"\r\n',
    );
  });

  it.each(['=1', '+1', '-1', '@x', '＝1', '＋1', '－1', '＠x', '\tx', '\rx', '\nx'])(
    'makes no formula of %j',
    (text) => {
      expect(csvLine([text])).toBe(`"'${text}"\r\n`);
    },
  );

  it.each([
    ['a;=1;b', "a;'=1;b"],
    ['a;"+1', `a;""'+1`],
    ['a\r\n-1', "a\r\n'-1"],
    ['a\t@x', "a\t'@x"],
    ['a-1;b=c', 'a-1;b=c'],
  ])('makes none of %j where semicolons or tabs split it', (text, cell) => {
    expect(csvLine([text])).toBe(`"${cell}"\r\n`);
  });
});
