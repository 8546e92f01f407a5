import { InvalidArgumentError } from 'commander';
import { parseDuration } from './options';

const DURATION = /^[1-9][0-9]{0,6}[smhd]$/;
/** A date alone means midnight UTC. A time needs a zone, because a default would depend on the machine. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2}))?$/i;

/** Parses a time (ISO 8601) or a duration ago into milliseconds since 1970. */
export function parseSince(value: string, _before?: unknown, now = Date.now()): number {
  if (DURATION.test(value)) return now - parseDuration(value) * 1_000;
  const time = TIME.test(value) && hasDay(value.slice(0, 10)) ? Date.parse(value) : NaN;
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError(
    'A time is written 2026-01-31 or 2026-01-31T08:00:00Z, a duration 30s, 15m, 24h or 7d.',
  );
}

/** Date would read 30 February as 2 March. */
function hasDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}
