import { isStorable } from './client-text';

const MAX_BYTES = 100;
export const MAX_EXTERNAL_ID_BYTES = 2048;

export const SOURCE_NAME_RULE = `A source has 1 to ${MAX_BYTES} bytes.`;

/** Returns the name of a source without white space at its ends, or null when it cannot be one. */
export function sourceName(text: string): string | null {
  const name = text.trim();
  return name !== '' && isStorable(name) && Buffer.byteLength(name) <= MAX_BYTES ? name : null;
}

/** Tells whether a text can be the id of an asset in its source. */
export const isExternalId = (text: string | null): text is string =>
  text !== null && text !== '' && isStorable(text) && Buffer.byteLength(text) <= MAX_EXTERNAL_ID_BYTES;
