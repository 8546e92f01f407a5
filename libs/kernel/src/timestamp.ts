/** Without 24:00, which `Date` reads as the next midnight and RFC 3339 does not know. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const FRACTION_OF_MILLISECOND = /\.\d{3}0*[1-9]/;
export const DAY_MS = 86_400_000;
/** Postgres does not read the next year as `toISOString` writes it. */
export const LAST_MILLISECOND = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** Every month has as many. */
const DAYS_OF_ANY_MONTH = 28;

/** A date and time of day with its offset (ISO 8601), of the years 1 to 9999 in UTC; null for any other text. */
export function parseTimestamp(text: string): Date | null {
  const time = new Date(text);
  // Its offset may carry it into a year that neither Postgres nor RFC 3339 can write.
  const inUtc = time.getUTCFullYear();
  return DATE_TIME.test(text) && inUtc >= 1 && inUtc <= 9999 && hasDay(text) ? time : null;
}

/**
 * The first whole millisecond at or after a date-time, null for any other text. Times are kept in milliseconds, so a bound
 * with a fraction of one begins with the next.
 */
export function parseTimeBound(text: string): Date | null {
  const time = parseTimestamp(text);
  if (time === null || !FRACTION_OF_MILLISECOND.test(text)) return time;
  return new Date(Math.min(time.getTime() + 1, LAST_MILLISECOND));
}

/** Whether the month of a date-time is as long as that. Date itself takes 30 February for 2 March. */
function hasDay(dateTime: string): boolean {
  const day = Number(dateTime.slice(8, 10));
  if (day <= DAYS_OF_ANY_MONTH) return true;
  const [year, month] = [Number(dateTime.slice(0, 4)), Number(dateTime.slice(5, 7))];
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
