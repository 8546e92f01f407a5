import fc from 'fast-check';
import { parseForeignJson } from './foreign-json';

const nested = (levels: number): string => '[0,{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('JSON of somebody else', () => {
  it('is parsed like JSON.parse', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(parseForeignJson(text)).toEqual(JSON.parse(text))));
    expect(() => parseForeignJson('{"a":')).toThrow(SyntaxError);
    expect(parseForeignJson(nested(1_000))).toEqual(JSON.parse(nested(1_000)));
    expect(parseForeignJson(`"${'['.repeat(5_000)}\\"${'{'.repeat(5_000)}"`)).toHaveLength(10_001);
    expect(parseForeignJson(`[${'[],'.repeat(5_000)}0]`)).toHaveLength(5_001);
  });

  it.each([
    ['whole', nested(1_002)],
    ['cut off', `${'['.repeat(9_000)}${'[0,'.repeat(3_000)}{`],
  ])('is not parsed when it is too deep: %s', (_, text) => {
    const parse = jest.spyOn(JSON, 'parse');

    expect(() => parseForeignJson(text)).toThrow(RangeError);
    expect(parse).not.toHaveBeenCalled();
  });

  afterEach(() => jest.restoreAllMocks());
});
