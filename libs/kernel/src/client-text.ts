/** Cuts a name that a client sent to a length fit for a message. */
export const shown = (name: string): string => cut(name, 64);

/** Cuts by code points, because half a surrogate pair is not text. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${cutAt(text, length)}…`;
}

/** Returns the first code points of a text. */
export const cutAt = (text: string, length: number): string => [...text.slice(0, 2 * length)].slice(0, length).join('');

/** U+0000, which Postgres cannot store, and lone surrogates, which no encoding can carry. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');

/** Removes what no store keeps. */
export const storable = (text: string): string => (isStorable(text) ? text : text.replace(EACH_UNSTORABLE, ''));

/** Tells whether every store returns the text unchanged. */
export const isStorable = (text: string): boolean => !UNSTORABLE.test(text);

/** Tells whether a text has more Unicode code points than `limit`. */
export function isLongerThan(text: string, limit: number): boolean {
  // A string has at least as many UTF-16 units as code points, so most texts need no counting.
  return text.length > limit && [...text].length > limit;
}

/** Added to a message about a parameter that must hold no space: a raw `+` in a query means one. */
export const plusHint = (text: string): string =>
  text.includes(' ') ? '; in a query a + is a space, so send a plus sign as %2B' : '';
