import { parseSince } from './since-option';

const NOW = Date.UTC(2026, 0, 31, 8);

describe('--since', () => {
  it.each([
    ['30s', '2026-01-31T07:59:30.000Z'],
    ['15m', '2026-01-31T07:45:00.000Z'],
    ['24h', '2026-01-30T08:00:00.000Z'],
    ['7d', '2026-01-24T08:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:00.5+02:00', '2026-01-31T06:00:00.500Z'],
  ])('reads %s', (value, time) => expect(new Date(parseSince(value, undefined, NOW)).toISOString()).toBe(time));

  it.each([
    '',
    '7',
    'd',
    '0d',
    '-7d',
    '7 d',
    '1w',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2026-02-29T08:00Z',
    '2026-01-31T08:00:00',
    '1700000000',
  ])('refuses "%s"', (value) => expect(() => parseSince(value)).toThrow(/A time is written/));
});
