import { hash } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import canonicalize from 'canonicalize';
import { type ApplicationId, DomainError, ValidationFailed, type WorkspaceId, isLongerThan } from '#libs/kernel';
import type { JsonBody } from '../http/body/json-body';

const HEADER = 'Idempotency-Key';
const MAX_LENGTH = 256;
const CONTROL = /\p{Control}/u;
/** Part of every fingerprint, so that fingerprints made by different rules never match. */
const FINGERPRINT_VERSION = 'v1';

/** The response of a successful write. A replay repeats it. */
export interface IdempotentResponse {
  readonly status: number;
  /** The body as sent, in UTF-8. */
  readonly body: string;
  readonly entityTag: string | null;
}

/** A key of one application and the request that used it. */
export interface IdempotentRequest {
  readonly workspaceId: WorkspaceId;
  readonly applicationId: ApplicationId;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
  readonly fingerprint: string;
}

/** The key was used for a different request. */
export class IdempotencyConflict extends DomainError {
  constructor() {
    super('idempotency_conflict', 'This Idempotency-Key was used with a different request.');
  }
}

/** The first request with the key did not end within five seconds. */
export class IdempotencyInProgress extends DomainError {
  constructor() {
    super('idempotency_in_progress', 'A request with this Idempotency-Key is still being processed.');
  }
}

/**
 * Returns the SHA-256 of the request's Idempotency-Key in hexadecimal.
 * @throws `validation_failed` unless there is exactly one such header, of 1 to 256 characters after trimming and
 * without control characters
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
  return new ValidationFailed([{ header: HEADER, code, detail: `${HEADER} ${what}` }]);
}

/**
 * Returns the hexadecimal fingerprint of a request: method, path, media type and the RFC 8785 canonical form of the
 * body. White space, member order and the case of an id in the path do not matter. Null and absent differ.
 */
export function fingerprintOf(method: string, path: string, body: JsonBody): string {
  return hash(
    'sha256',
    [FINGERPRINT_VERSION, method, path.toLowerCase(), body.mediaType, canonicalize(body.value)].join('\n'),
  );
}
