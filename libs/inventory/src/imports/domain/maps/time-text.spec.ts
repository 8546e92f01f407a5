import { timeText } from './time-text';

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
    ['2026-03-08 03:30:00', 'America/New_York', '2026-03-08T07:30:00.000Z'],
    ['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25 03:30:00', 'Europe/Berlin', '2026-10-25T02:30:00.000Z'],
    ['2026-01-02T03:04:05Z', 'Europe/Berlin', '2026-01-02T03:04:05.000Z'],
    ['0001-01-01T00:00:00Z', undefined, undefined],
    ['0000-00-00 00:00:00', undefined, undefined],
    ['0001-01-01T00:00:00+01:00', undefined, undefined],
    ['0001-01-01T00:00:00', 'Europe/Berlin', undefined],
    ['1979-12-31T23:59:59Z', undefined, undefined],
    ['2000-01-01T00:00:00Z', undefined, undefined],
    ['', undefined, undefined],
    [null, undefined, undefined],
    ['2026-01-02T24:00:00Z', undefined, null],
    ['2026-02-30T00:00:00Z', undefined, null],
    ['2026-01-02T03:04:05', undefined, null],
    ['2026-01-02', undefined, null],
    ['/Date(1767323045678)/', undefined, '2026-01-02T03:04:05.678Z'],
    ['/Date(-62135596800000)/', undefined, undefined],
    ['/Date(99999999999999999)/', undefined, null],
    ['/Date(1767323045678+0100)/', undefined, '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05', 'Europe/Nowhere', null],
    [1_767_323_045, undefined, null],
  ])('of %j in %j is %j', (value, zone, expected) => {
    if (expected === null) expect(() => timeText(value, zone)).toThrow(/^\$time /);
    else expect(timeText(value, zone)).toBe(expected);
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
    if (fault === undefined) expect(() => timeText(value, zone)).not.toThrow();
    else expect(() => timeText(value, zone)).toThrow(fault);
  });
});
