import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DomainError, type WorkspaceId, isLongerThan } from '#libs/kernel';
import type { CursorKeys } from '../keys/cursor-keys';

/** Filters of a list as the client sent them, by parameter name. Absent ones are left out. */
export type ListFilters = Readonly<Record<string, string>>;

export interface CursorContent {
  /** Position of the previous page's last item. Its form depends on the list. */
  readonly after: string;
  readonly filters: ListFilters;
  /** Digests of filters that are too long for a cursor. Requests must send these filters again. */
  readonly digests?: ListFilters;
}

const PLAIN = 1;
const PACKED = 2;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
/** So that a cursor has at most `CURSOR.maxLength` characters. */
const MAX_CONTENT_BYTES = 700;
/** Values of more characters than this always give way to their digests. */
const LONGEST_VALUE = 1_000;
/** Values of more bytes than this, between the quotes of their JSON, do so when even the packed content is too long. */
const LONG_BYTES = 60;
const QUOTES = 2;

/** The cursor was altered, or belongs to another workspace, list or set of filters. */
export class CursorInvalid extends DomainError {
  constructor(detail = 'pageCursor is not a cursor of this list.') {
    super('invalid_cursor', detail, [{ parameter: 'pageCursor', code: 'format', detail }]);
  }
}

/**
 * Encrypts cursors with AES-256-GCM. A cursor holds position and filters, and is bound to workspace and resource as
 * additional data. So internal ids stay hidden, and a cursor works for one list only. Cursors do not expire. Filters that
 * do not fit are compressed. Where that is not enough, the cursor holds digests of the long ones.
 *
 * Layout, base64url: version (1 byte) · key id (4) · IV (12) · ciphertext · tag (16). The version tells the content:
 * 1 is JSON; 2 is JSON of the position, a line feed, and compressed JSON of filters and digests.
 */
export class Cursors {
  constructor(private readonly keys: Pick<CursorKeys, 'current' | 'find'>) {}

  issue(workspaceId: WorkspaceId, resource: string, content: CursorContent): string {
    const key = this.keys.current();
    const { version, bytes } = bytesOf(content);
    const header = Buffer.concat([Buffer.of(version), Buffer.from(key.id, 'hex')]);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key.secret, iv);
    cipher.setAAD(boundTo(header, workspaceId, resource));
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([header, iv, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** @throws {@link CursorInvalid} unless an accepted key issued the cursor for this workspace and resource */
  open(workspaceId: WorkspaceId, resource: string, cursor: string): CursorContent {
    const bytes = Buffer.from(cursor, 'base64url');
    // Base64 decoders ignore stray characters and surplus bits. A cursor must return exactly as it was issued.
    if (bytes.toString('base64url') !== cursor || bytes.length < HEADER_BYTES + IV_BYTES + TAG_BYTES) {
      throw new CursorInvalid();
    }
    const header = bytes.subarray(0, HEADER_BYTES);
    const key = this.keys.find(header.subarray(1).toString('hex'));
    const [version] = header;
    if ((version !== PLAIN && version !== PACKED) || !key) throw new CursorInvalid();
    const iv = bytes.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key.secret, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(header, workspaceId, resource));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const sealed = bytes.subarray(HEADER_BYTES + IV_BYTES, -TAG_BYTES);
      const opened = Buffer.concat([decipher.update(sealed), decipher.final()]);
      return version === PACKED ? unpacked(opened) : plain(opened.toString());
    } catch {
      throw new CursorInvalid();
    }
  }
}

function bytesOf({ after, filters }: CursorContent): { readonly version: number; readonly bytes: Buffer } {
  const whole = Buffer.from(JSON.stringify([after, filters]));
  if (whole.length <= MAX_CONTENT_BYTES) return { version: PLAIN, bytes: whole };
  const bytes = packed(after, filters, (value) => isLongerThan(value, LONGEST_VALUE));
  if (bytes.length <= MAX_CONTENT_BYTES) return { version: PACKED, bytes };
  const isLong = (value: string): boolean => Buffer.byteLength(JSON.stringify(value)) > LONG_BYTES + QUOTES;
  return { version: PACKED, bytes: packed(after, filters, isLong) };
}

/** The position stays apart: beside a client's text, the length of its compressed form would tell it. */
function packed(after: string, filters: ListFilters, isLong: (value: string) => boolean): Buffer {
  const entries = Object.entries(filters);
  const digests = entries.filter(([, value]) => isLong(value)).map(([name, value]) => [name, digestOf(value)]);
  const kept = entries.filter(([, value]) => !isLong(value));
  const held = JSON.stringify([Object.fromEntries(kept), Object.fromEntries(digests)]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(after)}\n`), deflateRawSync(held)]);
}

function unpacked(content: Buffer): CursorContent {
  const end = content.indexOf('\n');
  const held = inflateRawSync(content.subarray(end + 1)).toString();
  const [filters, digests] = JSON.parse(held) as [ListFilters, ListFilters];
  return { after: JSON.parse(content.toString('utf8', 0, end)) as string, filters, digests };
}

/** Older instances wrote digests here, too. */
function plain(content: string): CursorContent {
  const [after, filters, digests = {}] = JSON.parse(content) as [string, ListFilters, ListFilters?];
  return { after, filters, digests };
}

export const digestOf = (value: string): string => createHash('sha256').update(value).digest('base64url');

function boundTo(header: Buffer, workspaceId: WorkspaceId, resource: string): Buffer {
  return Buffer.concat([header, Buffer.from(`${workspaceId}\n${resource}`)]);
}
