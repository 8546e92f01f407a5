/** Maximum length of a logged error message. Some messages quote client input. */
const LONGEST_MESSAGE = 500;
const HOST_PATH = /(?<![\w:/])(?:\/[\w.@+-]+){2,}/g;

/** Postgres error codes for invalid values. Their messages quote the value. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

const CREDENTIALS_IN_URL = /:\/\/[^\s/"]+@/g;
/** Lines are JSON: an escape such as `\n` or `\u0000` may precede an address and must stay intact. */
const E_MAIL = /(?<!\\(?:u[\da-f]{0,3})?)[\p{L}\p{N}_.+%'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/giu;
// No word boundary in front: there is none after an escape.
const CLIENT_SECRET = /cs_[\w-]{40,}/g;
const JWT = /eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g;

/**
 * Returns an error's message without quoted values. Known for errors of Postgres and of parsers. Quoted names of
 * constraints and columns are kept.
 */
export function messageOf(error: Error): string {
  const { code } = error as { code?: unknown };
  const quotesValues = error instanceof SyntaxError || (typeof code === 'string' && DATA_EXCEPTION.test(code));
  const message = quotesValues ? error.message.replace(/["'].*["']/s, '"…"') : error.message;
  return message.slice(0, LONGEST_MESSAGE).replace(HOST_PATH, '…');
}

/**
 * Removes text that looks like a secret, a token, an e-mail address or credentials in a URL. Such text is never logged
 * on purpose; this is a safety net.
 */
export function redacted(line: string): string {
  const plain = line.includes('@') ? line.replace(CREDENTIALS_IN_URL, '://…@').replace(E_MAIL, '…') : line;
  return plain.replace(CLIENT_SECRET, '…').replace(JWT, '…');
}
