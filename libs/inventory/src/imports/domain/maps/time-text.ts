import { DAY_MS } from '#libs/kernel';
import { isNever, parseImportTime } from '../import-time';

const NOT_A_TIME = '$time takes a time such as 2026-01-02T03:04:05Z.';
/** Windows PowerShell writes milliseconds since 1970. An offset does not move them. */
const MILLISECONDS = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/;

/**
 * Returns a time as RFC 3339 in UTC. Undefined for no time and for stand-ins of "never". `zone` reads a time without an
 * offset, such as `Europe/Berlin`.
 */
export function timeText(value: unknown, zone?: unknown): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const time = typeof value === 'string' ? readTime(value.trim(), zone) : null;
  if (time === null) throw new Error(NOT_A_TIME);
  return time === 'never' || isNever(time) ? undefined : time.toISOString();
}

function readTime(text: string, zone: unknown): Date | 'never' | null {
  const time = parseImportTime(text.replace(MILLISECONDS, (_, since: string) => new Date(Number(since)).toISOString()));
  if (time === null || time === 'never' || time instanceof Date) return time;
  if (zone === undefined)
    throw new Error('$time got a time without an offset; give its time zone: $time(x, "Europe/Berlin").');
  const wall = time.wall.getTime();
  return new Date(wall - offsetIn(zone, wall));
}

/** Returns the offset from UTC in milliseconds at a local time. An hour that the clock repeats is the first one. */
function offsetIn(zone: unknown, wall: number): number {
  const format = formatOf(zone);
  const before = offsetAt(format, wall - DAY_MS);
  return offsetAt(format, wall - before) === before ? before : offsetAt(format, wall - offsetAt(format, wall));
}

function offsetAt(format: Intl.DateTimeFormat, time: number): number {
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: unknown): Intl.DateTimeFormat {
  if (typeof zone !== 'string') throw new Error('$time takes a time zone such as "Europe/Berlin".');
  const known = formats.get(zone);
  if (known) return known;
  const unit = '2-digit';
  try {
    const format = new Intl.DateTimeFormat('en', {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: unit, day: unit },
      ...{ hour: unit, minute: unit, second: unit },
    });
    formats.set(zone, format);
    return format;
  } catch {
    throw new Error('$time does not know this time zone.');
  }
}
