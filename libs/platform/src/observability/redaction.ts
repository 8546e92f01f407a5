/** Longest message of an error that is kept: some quote what a client sent. */
const LONGEST_MESSAGE = 500;
const HOST_PATH = /(?<![\w:/])(?:\/[\w.@+-]+){2,}/g;

/** Codes of Postgres for values it cannot take; their messages quote the value. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

const CREDENTIALS_IN_URL = /:\/\/[^\s/"]+@/g;
/** A line is JSON: what stands before an address may be an escape of it, `\n` or `\u0000`, which must stay whole. */
const E_MAIL = /(?<!\\(?:u[\da-f]{0,3})?)[\p{L}\p{N}_.+%'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/giu;
// Wherever they begin: after an escape there is no boundary of words.
const CLIENT_SECRET = /cs_[\w-]{40,}/g;
const JWT = /eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g;

/**
 * The message of an error without what it quotes of values. Which errors do is known of Postgres' and of parsers; names
 * of constraints and columns, which others quote, are kept.
 */
export function messageOf(error: Error): string {
  const { code } = error as { code?: unknown };
  const quotesValues = error instanceof SyntaxError || (typeof code === 'string' && DATA_EXCEPTION.test(code));
  const message = quotesValues ? error.message.replace(/["'].*["']/s, '"…"') : error.message;
  return message.slice(0, LONGEST_MESSAGE).replace(HOST_PATH, '…');
}

/**
 * Takes out whatever looks like a secret, a token, an e-mail address or credentials in a URL. Nothing of the kind is
 * written on purpose; this is for what nobody thought of.
 */
export function redacted(line: string): string {
  const plain = line.includes('@') ? line.replace(CREDENTIALS_IN_URL, '://…@').replace(E_MAIL, '…') : line;
  return plain.replace(CLIENT_SECRET, '…').replace(JWT, '…');
}
