import { parseTimeBound, parseTimestamp, plusHint } from '#libs/kernel';
import { type Member, check, fromText, member } from './member';

const example = (sent: unknown): string => `a date-time such as 2026-01-02T03:04:05Z${plusHint(String(sent))}`;

/** A date-time with its offset (RFC 3339) in a query, which becomes a Date. A `pattern` stands for the format. */
export const Instant = (options: Member & { readonly pattern?: string }): PropertyDecorator =>
  instant(parseTimeBound, options);

/** The same, cut down to the millisecond: what was true then, not later. */
export const PastInstant = (options: Member): PropertyDecorator => instant(parseTimestamp, options);

const instant = (
  read: (text: string) => Date | null,
  options: Member & { readonly pattern?: string },
): PropertyDecorator =>
  member(
    { type: 'string', ...(options.pattern ? {} : { format: 'date-time' }), maxLength: 40, ...options },
    fromText((text) => read(text) ?? text),
    check({ code: 'format', isValid: (value) => value instanceof Date, message: (sent) => `must be ${example(sent)}` }),
  );

/** The beginning of a feed: `now`, or a date-time that becomes a Date. */
export const Since = (options: Member): PropertyDecorator =>
  member(
    { type: 'string', maxLength: 40, pattern: '^(now|[0-9]{4}-.*)$', ...options },
    fromText((text) => (text === 'now' ? text : (parseTimeBound(text) ?? text))),
    check({
      code: 'format',
      isValid: (value) => value === 'now' || value instanceof Date,
      message: (sent) => `must be now or ${example(sent)}`,
    }),
  );

/** A day in a query, such as 2026-01-02. It stays a text. */
export const Day = (options: Member): PropertyDecorator =>
  member(
    { type: 'string', format: 'date', maxLength: 10, ...options },
    check({
      code: 'format',
      isValid: (value) =>
        /^\d{4}-\d{2}-\d{2}$/.test(String(value)) && parseTimestamp(`${String(value)}T00:00:00Z`) !== null,
      message: 'must be a date such as 2026-01-02',
    }),
  );
