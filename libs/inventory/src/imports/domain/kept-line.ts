/**
 * A bad line as it stands in its file, so that it can be corrected and imported again. Holds its text, or base64 of
 * bytes that are not UTF-8. A CSV row includes the header of its file.
 */
export interface KeptLine {
  readonly header?: string;
  readonly text?: string;
  readonly base64?: string;
}

export function keptLine({ bytes, header }: { readonly bytes?: Buffer; readonly header?: string }): KeptLine {
  if (bytes === undefined) return {};
  const text = bytes.toString();
  const kept = Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
  return header === undefined ? kept : { header, ...kept };
}
