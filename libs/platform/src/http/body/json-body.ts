import { InputFaults, ValidationFailed, endOfString, isDeeperThan, isStorable, stepsInto } from '#libs/kernel';

/** Media types that the body of a write may have. */
export const JSON_MEDIA_TYPES = ['application/json', 'application/merge-patch+json'] as const;
export type JsonMediaType = (typeof JSON_MEDIA_TYPES)[number];

/** Media type of every successful response. */
export const JSON_RESPONSE = 'application/json; charset=utf-8';

/** A parsed body. The route interprets its members. */
export interface JsonBody {
  readonly mediaType: JsonMediaType;
  readonly value: unknown;
}

/**
 * Returns the members of a patch that the client means. In a merge patch (RFC 7396) null clears. In plain JSON many client
 * libraries send null for unset members, so there null is like absent.
 */
export function sentMembers<Body extends object>(body: Body, mediaType: JsonMediaType): Partial<Body> {
  const isSent = (value: unknown): boolean =>
    value !== undefined && (value !== null || mediaType === 'application/merge-patch+json');
  return Object.fromEntries(Object.entries(body).filter(([, value]) => isSent(value))) as Partial<Body>;
}

const MAX_DEPTH = 16;
/** A bulk update has at most 9,000. Each takes memory while the body waits for its turn. */
const MAX_VALUES = 10_000;
const WHITE_SPACE = ' \n\r\t';

/**
 * Parses a JSON body (RFC 8259). The last of duplicate members wins.
 * @throws `validation_failed` for an empty body, invalid UTF-8 or JSON, more than 16 levels or 10,000
 * values, U+0000 or a lone surrogate
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw refusal('required', 'The body must not be empty.');
  const text = decode(bytes);
  if (isDeeperThan(text, MAX_DEPTH)) throw refusal('range', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  if (hasMoreValuesThan(text, MAX_VALUES)) throw refusal('length', `The body has more than ${MAX_VALUES} values.`);
  const value = parse(text);
  const faults = new InputFaults();
  findFaults(value, [], faults);
  faults.throwAny();
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refusal('format', 'The body is not UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refusal('format', 'The body is not well-formed JSON.');
  }
}

/** Counts in the text, as far as it is JSON: to make the values would hold up all other requests. */
function hasMoreValuesThan(text: string, limit: number): boolean {
  let values = 1;
  let opened = false;
  for (let at = 0; at < text.length && values <= limit; at += 1) {
    const character = text[at] as string;
    if (WHITE_SPACE.includes(character)) continue;
    const isFirst = opened && character !== ']' && character !== '}';
    if (isFirst || character === ',') values += 1;
    opened = character === '[' || character === '{';
    if (character === '"') at = endOfString(text, at);
  }
  return values > limit;
}

/** Stops at the limit of shown faults, so a body full of faults costs no more than any other. */
function findFaults(value: unknown, place: (string | number)[], faults: InputFaults): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) faults.addMember(place, 'format', 'holds U+0000 or a lone surrogate.');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) faults.addMember(place, 'range', 'is too large a number.');
  } else if (typeof value === 'object' && value !== null) {
    for (const [step, inner] of stepsInto(value)) {
      if (faults.isFull) return;
      if (!isStorable(String(step)))
        faults.addMember(place, 'format', 'has a member whose name holds U+0000 or a lone surrogate.');
      place.push(step);
      findFaults(inner, place, faults);
      place.pop();
    }
  }
}

function refusal(code: string, detail: string): ValidationFailed {
  return new ValidationFailed([{ pointer: '', code, detail }]);
}
