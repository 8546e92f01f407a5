/** U+0000, which Postgres cannot store, and halves of surrogate pairs, which no encoding can carry. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Whether a text comes back from every store as it went in. */
export const isStorable = (text: string): boolean => !UNSTORABLE.test(text);

/** Whether a text has more Unicode code points than `limit` (decisions, section 7). */
export function isLongerThan(text: string, limit: number): boolean {
  // A string has at least as many UTF-16 units as code points: most need no counting.
  return text.length > limit && [...text].length > limit;
}
