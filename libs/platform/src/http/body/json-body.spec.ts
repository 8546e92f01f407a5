import fc from 'fast-check';
import { ValidationFailed } from '#libs/kernel';
import { parseJson } from './json-body';

const faultsOf = (text: string): string[] => {
  try {
    parseJson(Buffer.from(text));
    return [];
  } catch (error) {
    return (error as ValidationFailed).faults.map(({ pointer, code }) => `${pointer} ${code}`);
  }
};

describe('A JSON body', () => {
  it('is parsed like JSON.parse for any content', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: 'grapheme' }), (text) => {
        fc.pre(!text.includes('\\u0000'));
        expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is refused with a client error for any bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          try {
            parseJson(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(ValidationFailed);
          }
        },
      ),
    );
  });

  it('names every string with U+0000 or a lone surrogate by its pointer', () => {
    expect(faultsOf('{"a":["x","\\u0000"],"b/c":{"d~e":"\\ud83d"},"f":"\\ude00"}')).toEqual([
      '/a/1 format',
      '/b~1c/d~0e format',
      '/f format',
    ]);
    expect(faultsOf('{"a\\u0000":1}')).toEqual([' format']);
    expect(faultsOf('"\\ud83d\\ude00"')).toEqual([]);
  });

  it('ignores brackets in strings', () => {
    expect(faultsOf(`{"a":"${'['.repeat(40)}\\"${'{'.repeat(40)}"}`)).toEqual([]);
    expect(faultsOf('[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]')).toEqual([]);
    expect(faultsOf('[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]')).toEqual([' range']);
  });

  it('is not too deep when it only closes brackets', () => expect(faultsOf(']'.repeat(50))).toEqual([' format']));

  it('has at most 10,000 values', () => {
    const bodyOf = (values: number): string => `{"a":[${Array.from({ length: values - 2 }, () => '{}').join(',')}]}`;
    expect(faultsOf(bodyOf(10_000))).toEqual([]);
    expect(faultsOf(bodyOf(10_001))).toEqual([' length']);
    // Neither text nor white space between brackets is a value.
    expect(faultsOf(JSON.stringify({ a: '{"[,\\'.repeat(9_000), b: [[], {}] }, null, 9))).toEqual([]);
  });

  it('has its values counted as JSON.parse makes them', () => {
    const valuesIn = (value: unknown): number =>
      Object.values(typeof value === 'object' ? { ...value } : {}).reduce((sum: number, one) => sum + valuesIn(one), 1);
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: 'grapheme' }), fc.nat(4), (text, spaces) => {
        fc.pre(!text.includes('\\u0000'));
        const left = 10_000 - 1 - valuesIn(JSON.parse(text));
        const body = (more: number): string =>
          JSON.stringify([JSON.parse(text), ...Array.from({ length: left + more }, () => 0)], null, spaces);
        expect([faultsOf(body(0)), faultsOf(body(1))]).toEqual([[], [' length']]);
      }),
      { numRuns: 30 },
    );
  });

  it('with too many values is refused before any is made', () => {
    const parse = jest.spyOn(JSON, 'parse');
    expect(faultsOf(`{"tags":[${'{},'.repeat(87_000)}{}]}`)).toEqual([' length']);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('names at most twenty faults and stays as fast with more', () => {
    const name = 'p~'.repeat(65_000);
    const text = `{"${name}":[${Array.from({ length: 9_000 }, () => '1e400').join(',')}]}`;
    try {
      parseJson(Buffer.from(text));
    } catch (error) {
      const { faults } = error as ValidationFailed;
      expect(faults).toHaveLength(20);
      expect(JSON.stringify(faults).length).toBeLessThan(10_000);
      return;
    }
    throw new Error('accepted');
  });
});
