import { randomBytes } from 'node:crypto';
import { type Clock } from '#libs/kernel';
import { z } from 'zod';
import type { KeyReading, RereadableKeys } from './key-rereading';
import { type DatedKey, KeysUnusable, keyInUse, newestFirst } from './key-rotation';
import { readSecretFile } from '../config/secret-file';

/** An AES-256 key for cursors. Each cursor carries the id of its key. */
export interface CursorKey extends DatedKey {
  readonly secret: Buffer;
}

const keyFileSchema = z.object({
  keys: z
    .array(z.object({ kid: z.string().regex(/^[0-9a-f]{8}$/), secret: z.base64(), createdAt: z.iso.datetime() }))
    .min(1),
});

/** Parses a key file, newest key first. Errors quote nothing of the file. */
export function readCursorKeys(text: string): CursorKey[] {
  const keys = parsed(text).map(({ kid, secret, createdAt }) => {
    const bytes = Buffer.from(secret, 'base64');
    if (bytes.length !== 32) throw new KeysUnusable(`CURSOR_KEYS_FILE: the key ${kid} is not of 32 bytes.`);
    return { kid, secret: bytes, createdAt: Date.parse(createdAt) };
  });
  return keys.sort(newestFirst);
}

function parsed(text: string): z.infer<typeof keyFileSchema>['keys'] {
  try {
    return keyFileSchema.parse(JSON.parse(text)).keys;
  } catch {
    // The parser's own message would quote part of the keys.
    throw new KeysUnusable('CURSOR_KEYS_FILE is not a file of cursor keys.');
  }
}

/** Formats a key file. */
export function cursorKeyFile(keys: readonly CursorKey[]): string {
  const entries = keys.map(({ kid, secret, createdAt }) => ({
    kid,
    secret: secret.toString('base64'),
    createdAt: new Date(createdAt).toISOString(),
  }));
  return `${JSON.stringify({ keys: entries }, null, 2)}\n`;
}

export function newCursorKey(createdAt: number): CursorKey {
  return { kid: randomBytes(4).toString('hex'), secret: randomBytes(32), createdAt };
}

/** Formats a key file with one new key. */
export const newCursorKeyFile = (now: number): string => cursorKeyFile([newCursorKey(now)]);

/** The keys in CURSOR_KEYS_FILE as last read. One issues cursors; all are accepted. */
export class CursorKeys implements RereadableKeys {
  private text: string | null = null;
  private keys: readonly CursorKey[] = [];

  private constructor(
    private readonly file: string,
    private readonly clock: Clock,
  ) {}

  /** @throws {@link KeysUnusable} when the file is unreadable or not a key file */
  static async open(file: string, clock: Clock): Promise<CursorKeys> {
    const keys = new CursorKeys(file, clock);
    const { faults } = await keys.reread();
    if (faults.length > 0) throw new KeysUnusable(`${faults.join(' ')} It names ${file}.`);
    return keys;
  }

  /** Returns the key that encrypts new cursors. */
  current(): CursorKey {
    const key = keyInUse(this.keys, this.clock.now());
    if (!key) throw new Error('There is no cursor key.');
    return key;
  }

  /** Returns the key with this id, or null when it is unknown or removed. */
  find(kid: string): CursorKey | null {
    return this.keys.find((key) => key.kid === kid) ?? null;
  }

  async reread(): Promise<KeyReading> {
    const faults: string[] = [];
    try {
      const text = (await readSecretFile(this.file)).toString();
      if (text !== this.text)
        [this.keys, this.text] = [readCursorKeys(text).map((key) => this.withFirstSeen(key)), text];
    } catch (error) {
      faults.push(faultOf(error as NodeJS.ErrnoException));
    }
    return { kids: this.keys.map(({ kid }) => kid), faults };
  }

  private withFirstSeen(key: CursorKey): CursorKey {
    if (this.keys.length === 0) return key;
    const known = this.find(key.kid);
    return known?.secret.equals(key.secret) ? { ...key, seenAt: known.seenAt } : { ...key, seenAt: this.clock.now() };
  }
}

function faultOf(error: NodeJS.ErrnoException): string {
  if (error instanceof KeysUnusable) return error.message;
  if (error.code === 'ENOENT') return 'CURSOR_KEYS_FILE does not exist; admin keys init makes one.';
  return `CURSOR_KEYS_FILE cannot be read (${error.code ?? error.message}).`;
}
