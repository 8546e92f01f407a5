/** Cuts a name that a client sent to a length fit for a message. */
export const shown = (name: string): string => cut(name, 64);

/** Cuts by code points, because half a surrogate pair is not text. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${[...text.slice(0, 2 * length)].slice(0, length).join('')}…`;
}
