import { MAP_FUNCTIONS } from './map-functions';

const { firstOf, serial, tags, unescape } = MAP_FUNCTIONS as Required<typeof MAP_FUNCTIONS>;

describe('$firstOf', () => {
  it.each([
    [[null, '', ' ', 'a', 'b'], 'a'],
    [[0, 1], 0],
    [[false], false],
    [[], undefined],
    ['a', 'a'],
    [undefined, undefined],
  ])('of %j is %j', (values, first) => {
    expect(firstOf?.(values)).toBe(first);
  });
});

describe('$serial', () => {
  it.each([
    [' C02XK ', 'C02XK'],
    [73219, '73219'],
    ['To be filled by O.E.M.', undefined],
    ['0123456789ABCDEF', undefined],
    ['SYS-1234567890', undefined],
    ['SN-12345', undefined],
    ['(null string)', undefined],
    ['Default string', undefined],
    ['System Serial Number', undefined],
    ['0000-0000', undefined],
    ['N/A', undefined],
    ['none', undefined],
    ['0123456789', undefined],
    ['Not Applicable', undefined],
    ['1234567', undefined],
    ['Filled_by-OEM', undefined],
    ['x', undefined],
    ['._-', undefined],
    ['xx-xy', 'xx-xy'],
    ['', undefined],
    [' ', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('of %j is %j', (value, expected) => {
    expect(serial?.(value)).toBe(expected);
  });

  it.each([[1.5], [true], [{}], [[]]])('refuses %j', (value) => {
    expect(() => serial?.(value)).toThrow('$serial takes a text.');
  });
});

describe('$unescape', () => {
  it.each([
    ['Ada&#039;s &quot;Mac&quot; &lt;2&gt; &amp; dock', `Ada's "Mac" <2> & dock`],
    ['&amp;lt;', '&lt;'],
    ['R&D &nbsp;', 'R&D &nbsp;'],
    [901, 901],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('of %j is %j', (value, expected) => {
    expect(unescape?.(value)).toBe(expected);
  });
});

describe('$tags', () => {
  it.each([
    [
      [
        { Key: 'env', Value: 'prod' },
        { key: 'team', value: '' },
      ],
      [{ key: 'env', value: 'prod' }, { key: 'team' }],
    ],
    [
      { env: 'prod', tier: 1, old: true, none: null },
      [{ key: 'env', value: 'prod' }, { key: 'tier', value: '1' }, { key: 'old', value: 'true' }, { key: 'none' }],
    ],
    [
      ['a', 'b'],
      [{ key: 'a' }, { key: 'b' }],
    ],
    [{ Key: 'env', Value: 'prod' }, [{ key: 'env', value: 'prod' }]],
    [{ TagKey: 'env', TagValue: 'prod' }, [{ key: 'env', value: 'prod' }]],
    [{ key: 'team', value: '', assignedAt: '2026-01-02T03:04:05Z' }, [{ key: 'team' }]],
    [{ Key: 'env' }, [{ key: 'Key', value: 'env' }]],
    [
      [
        { TagKey: 'a', TagValue: 0 },
        { name: 'b', value: false },
        { key: 'c', Value: undefined, value: 'v' },
        { Key: 'd' },
      ],
      [{ key: 'a', value: '0' }, { key: 'b', value: 'false' }, { key: 'c', value: 'v' }, { key: 'd' }],
    ],
    ['a', [{ key: 'a' }]],
    [null, undefined],
    [undefined, undefined],
  ])('of %j is %j', (value, expected) => {
    expect(tags?.(value)).toEqual(expected);
  });

  it.each([[[1]], [[null]], [1], [[{ Value: 'x' }]]])('refuses %j, which has no key', (value) => {
    expect(() => tags?.(value)).toThrow('$tags takes a list of keys and values, an object, or a list of texts.');
  });

  it('refuses a value that is an object', () => {
    const fault = '$tags found a value that is neither a text, a number nor a boolean.';
    expect(() => tags?.({ a: { b: 1 } })).toThrow(fault);
  });
});
