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

const MEMBERS = new Set(['file', 'line', 'reason', 'header', 'text', 'base64']);

/** Tells whether the line comes from the file that `--errors` writes, which holds bad lines with their reasons. */
export function isKeptLine(value: unknown): value is KeptLine {
  if (typeof value !== 'object' || value === null || !('line' in value && 'reason' in value)) return false;
  const { header, text, base64 } = value as Readonly<Record<string, unknown>>;
  return (
    Object.keys(value).every((name) => MEMBERS.has(name)) &&
    [header, text, base64].every((member) => member === undefined || typeof member === 'string')
  );
}
