/** A name as a client sent it, cut to a length that is fit for a message. */
export const shown = (name: string): string => cut(name, 64);

/** By code points: half a surrogate pair is no text. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${[...text.slice(0, 2 * length)].slice(0, length).join('')}…`;
}
