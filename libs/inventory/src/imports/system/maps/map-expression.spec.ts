import fc from 'fast-check';
import jsonata from 'jsonata';
import { MAP_FUNCTIONS } from '../../domain/maps/map-functions';
import { mapExpression, plainPath } from './map-expression';

const valueOf = async (text: string, item: unknown = {}): Promise<unknown> => mapExpression(text)(item);

describe('An expression of a map', () => {
  it('runs regular expressions in linear time', async () => {
    const started = performance.now();

    expect(await valueOf('$contains(a, /^(a+)+$/)', { a: `${'a'.repeat(5_000)}!` })).toBe(false);

    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it.each([
    ['$match(a, /([0-9]+)/).match', { a: 'x1y22' }, ['1', '22']],
    ['$match(a, /^b/).match', { a: 'ab' }, undefined],
    ['$replace(a, /(B)c/i, "<$1>")', { a: 'abcabc' }, 'a<b>a<b>'],
    ['$split(a, /, */)', { a: 'one,  two,three' }, ['one', 'two', 'three']],
    ['$match(a, /é(.)/)[0].groups[0]', { a: '𝄞éx' }, 'x'],
  ])('finds by regular expressions as JSONata does: %s', async (text, item, expected) => {
    expect(JSON.stringify(await valueOf(text, item))).toBe(JSON.stringify(expected));
  });

  it.each([
    ['a.(', /does not parse/],
    ['$contains(a, /(?=b)/)', /does not parse/],
    ['$contains(a, /(a)\\1/)', /does not parse/],
    ['$tiem(a)', /no function \$tiem/],
  ])('is refused before it runs: %s', (text, reason) => {
    expect(() => mapExpression(text)).toThrow(reason);
  });

  it('may define and call functions of its own', async () => {
    expect(await valueOf('($twice := function($x) { $x * 2 }; $twice(a))', { a: 4 })).toBe(8);
  });

  it.each([
    ['($f := function($x) { $f($x + 1) }; $f(1))', /timeout/],
    ['($f := function($x) { 1 + $f($x) }; $f(1))', /[Ss]tack/],
    ['$count([1..1000000])', /sequence/],
    ['$replace($pad("", 10000, "x"), /x(.*a)?(.*b)?(.*c)?(.*d)?/, "z")', /longer than 2000 milliseconds/],
  ])('ends at its limits: %s', async (text, reason) => {
    await expect(valueOf(text)).rejects.toThrow(reason);
  });

  it.each([
    '$number(secret)',
    '$eval(secret)',
    '$toMillis(secret, "[Y][Y][Y]")',
    '$time(secret)',
    'secret.(1 + $$.secret)',
  ])('tells no value of the item when it fails: %s', async (text) => {
    const failed = await Promise.resolve()
      .then(() => valueOf(text, { secret: 'ada@example.com' }))
      .then(String, (error: Error) => error);

    expect(failed).toBeInstanceOf(Error);
    expect(String(failed)).not.toContain('ada');
  });

  it('gives what JSONata gives, whether JSONata evaluates it or not', async () => {
    const leaf = fc.constantFrom(null, '', 'x', 'y', 0, 1, true, false);
    const member = fc.oneof(leaf, fc.array(leaf, { maxLength: 2 }), fc.record({ b: leaf }, { requiredKeys: [] }));
    const item = fc.record({ a: member, b: member }, { requiredKeys: [] });
    const { text } = fc.letrec<{ text: string }>((tie) => ({
      text: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('a', 'b', 'a.b', 'b.b.b', '"x"', '1', 'true', 'null', '`a`'),
        fc.tuple(tie('text'), tie('text')).map(([one, other]) => `$firstOf([${one}, ${other}])`),
        fc.tuple(tie('text'), tie('text'), tie('text')).map(([a, b, c]) => `((${a}) ? (${b}) : (${c}))`),
        fc.tuple(tie('text'), tie('text'), tie('text')).map(([a, b, c]) => `$firstOf([${a} ? ${b} : ${c}])`),
        fc.tuple(tie('text'), tie('text')).map(([one, other]) => `(${one}) ? ${other}`),
        fc.tuple(tie('text'), tie('text')).map(([one, other]) => `(${one}) = (${other})`),
        fc.tuple(fc.constantFrom('a', 'b', 'a.b'), leaf).map(([one, other]) => `${one} = ${JSON.stringify(other)}`),
        fc
          .tuple(fc.constantFrom('a', 'b', 'a.b'), leaf)
          .map(([one, other]) => `${one} != ${JSON.stringify(other)} ? a : b`),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(text, item, async (expression, given) => {
        const real = jsonata(expression);
        for (const [name, implementation] of Object.entries(MAP_FUNCTIONS)) {
          real.registerFunction(name, implementation as () => unknown);
        }
        const [ours, theirs] = [await valueOf(expression, given), (await real.evaluate(given)) as unknown];
        expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
      }),
      { numRuns: 500 },
    );
  });
});

describe('A path of items', () => {
  it.each([
    ['value', ['value']],
    ['data.`a b`', ['data', 'a b']],
    ['value[0]', null],
    ['$', null],
    ['value.{"a": b}', null],
  ])('is plain or not: %s', (text, names) => {
    expect(plainPath(text)).toEqual(names);
  });
});
