import { hash } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { ValidationFailed, isLongerThan } from '#libs/kernel';

const NAME = 'Idempotency-Key';
const MAX_LENGTH = 256;
const CONTROL = /\p{Control}/u;

/**
 * Returns the SHA-256 of the request's Idempotency-Key in hexadecimal.
 * @throws `validation_failed` unless there is exactly one such header, of 1 to 256 characters after trimming and
 * without control characters (decisions, section 4)
 */
export function idempotencyKeyHash(request: IncomingMessage): string {
  const sent = request.headersDistinct['idempotency-key'] ?? [];
  if (sent.length > 1) throw refusal('duplicated', 'must be given once.');
  const bytes = Buffer.from(sent[0] ?? '', 'latin1');
  const text = decoded(bytes);
  // A key that is not UTF-8 is hashed by all of its bytes, so that it never equals another key.
  const key = text === null ? bytes.toString('latin1') : text.trim();
  if (key === '') throw refusal('required', 'is required and must not be empty.');
  if (isLongerThan(key, MAX_LENGTH)) throw refusal('length', `must have at most ${MAX_LENGTH} characters.`);
  if (CONTROL.test(key)) throw refusal('format', 'must not contain control characters.');
  return hash('sha256', text === null ? bytes : key);
}

/** Decodes UTF-8, or returns null. Node exposes each byte of a header as one character. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function refusal(code: string, what: string): ValidationFailed {
  return new ValidationFailed([{ header: NAME, code, detail: `${NAME} ${what}` }]);
}
