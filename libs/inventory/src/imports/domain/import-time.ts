import { parseTimestamp } from '#libs/kernel';

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(?:([Zz])|([+-]\d{2})(?::?(\d{2}))?)?$/;

/** Tools write such times for "never". The year 0 is in no calendar. */
const FIRST_POSSIBLE = Date.UTC(1980, 0, 1);
const ANOTHER_NEVER = Date.UTC(2000, 0, 1);
const NO_YEAR = /^0000-/;

export const isNever = (time: Date): boolean => time.getTime() < FIRST_POSSIBLE || time.getTime() === ANOTHER_NEVER;

/**
 * Reads a date-time as tools write it: `T` or a space, `Z`, `+00`, `+0000` or `+00:00`. Null for any other text. `never`:
 * the year 0, also by an offset, as in the first moment of .NET. `wall`: it has no offset, and this is what it is in UTC.
 */
export function parseImportTime(text: string): Date | 'never' | { readonly wall: Date } | null {
  if (NO_YEAR.test(text)) return 'never';
  // Most times are exact already.
  const exact = parseTimestamp(text);
  if (exact !== null) return exact;
  const [, date, time, utc, hours, minutes = '00'] = DATE_TIME.exec(text) ?? [];
  if (date === undefined || time === undefined) return null;
  if (utc !== undefined) return parseTimestamp(`${date}T${time}Z`);
  if (hours !== undefined) {
    const local = `${date}T${time}${hours}:${minutes}`;
    return parseTimestamp(local) ?? (new Date(local).getUTCFullYear() < 1 ? 'never' : null);
  }
  const wall = parseTimestamp(`${date}T${time}Z`);
  return wall && { wall };
}
