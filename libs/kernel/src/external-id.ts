import { isStorable } from './client-text';

export const MAX_EXTERNAL_ID_BYTES = 2048;

/** Tells whether a text can be the id of an asset in its source. */
export const isExternalId = (text: string | null): text is string =>
  text !== null && text !== '' && isStorable(text) && Buffer.byteLength(text) <= MAX_EXTERNAL_ID_BYTES;
