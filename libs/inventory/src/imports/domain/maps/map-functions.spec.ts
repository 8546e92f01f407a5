import { MAP_FUNCTIONS } from './map-functions';

const { firstOf, serial, tags, time } = MAP_FUNCTIONS as Required<typeof MAP_FUNCTIONS>;

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
    [
      { Key: 'env', Value: 'prod' },
      [
        { key: 'Key', value: 'env' },
        { key: 'Value', value: 'prod' },
      ],
    ],
    [
      [
        { TagKey: 'a', TagValue: 0 },
        { name: 'b', value: false },
        { key: 'c', Value: undefined, value: 'v' },
      ],
      [
        { key: 'a', value: '0' },
        { key: 'b', value: 'false' },
        { key: 'c', value: 'v' },
      ],
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

describe('$time', () => {
  it.each([
    ['2026-01-02T03:04:05Z', undefined, '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05.123456789+00', undefined, '2026-01-02T03:04:05.123Z'],
    ['2026-01-02t03:04:05z', undefined, null],
    ['2026-01-02T03:04:05z', undefined, '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04+0530', undefined, '2026-01-01T21:34:00.000Z'],
    ['2026-01-02 03:04:05', 'Europe/Berlin', '2026-01-02T02:04:05.000Z'],
    ['2026-07-02 03:04:05', 'Europe/Berlin', '2026-07-02T01:04:05.000Z'],
    ['2026-03-29 03:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25 03:30:00', 'Europe/Berlin', '2026-10-25T02:30:00.000Z'],
    ['2026-01-02T03:04:05Z', 'Europe/Berlin', '2026-01-02T03:04:05.000Z'],
    ['0001-01-01T00:00:00Z', undefined, undefined],
    ['0000-00-00 00:00:00', undefined, undefined],
    ['1979-12-31T23:59:59Z', undefined, undefined],
    ['2000-01-01T00:00:00Z', undefined, undefined],
    ['', undefined, undefined],
    [null, undefined, undefined],
    ['2026-01-02T24:00:00Z', undefined, null],
    ['2026-02-30T00:00:00Z', undefined, null],
    ['2026-01-02T03:04:05', undefined, null],
    ['2026-01-02', undefined, null],
    ['2026-01-02T03:04:05', 'Europe/Nowhere', null],
    [1_767_323_045, undefined, null],
  ])('of %j in %j is %j', (value, zone, expected) => {
    if (expected === null) expect(() => time?.(value, zone)).toThrow(/^\$time /);
    else expect(time?.(value, zone)).toBe(expected);
  });

  it.each([
    ['no time', undefined, '$time takes a time such as 2026-01-02T03:04:05Z.'],
    [undefined, 7, undefined],
    [
      '2026-01-02T03:04:05',
      undefined,
      '$time got a time without an offset; give its time zone: $time(x, "Europe/Berlin").',
    ],
    ['2026-01-02T03:04:05', 7, '$time takes a time zone such as "Europe/Berlin".'],
    ['2026-01-02T03:04:05', 'Europe/Nowhere', '$time does not know this time zone.'],
    [' 2026-01-02T03:04:05Z ', undefined, undefined],
    ['2026-01-02T23:59:59.750', 'Asia/Kathmandu', undefined],
  ])('of %j in %j says %j', (value, zone, fault) => {
    if (fault === undefined) expect(() => time?.(value, zone)).not.toThrow();
    else expect(() => time?.(value, zone)).toThrow(fault);
  });
});
