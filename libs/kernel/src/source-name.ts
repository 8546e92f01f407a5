import { isStorable } from './client-text';

const MAX_BYTES = 100;

export const SOURCE_NAME_RULE = `A source has 1 to ${MAX_BYTES} bytes.`;

/** Returns the name of a source without white space at its ends, or null when it cannot be one. */
export function sourceName(text: string): string | null {
  const name = text.trim();
  return name !== '' && isStorable(name) && Buffer.byteLength(name) <= MAX_BYTES ? name : null;
}
