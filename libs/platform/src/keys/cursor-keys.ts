import { hash } from 'node:crypto';
import type { Clock } from '#libs/kernel';
import { CURSOR_KEYS } from './key-kinds';
import { readCursorKeysFile } from './cursor-keys-file';
import { type LoadedKey, LoadedKeys } from './loaded-keys';

/** An AES-256 key for cursors. */
export interface CursorKey {
  /** Names the key in its cursors: eight hexadecimal digits. */
  readonly id: string;
  readonly secret: Buffer;
}

/** A key of CURSOR_KEYS_FILE had the id of its cursors as its own. It keeps it, also in a file of its own. */
export const cursorKeyId = (kid: string): string => (/^[0-9a-f]{8}$/.test(kid) ? kid : hash('sha256', kid).slice(0, 8));

/** The keys that seal page cursors, in SIGNING_KEYS_DIR and in CURSOR_KEYS_FILE of earlier releases. */
export class CursorKeys extends LoadedKeys<Buffer> {
  private inFile: readonly LoadedKey<Buffer>[] = [];

  constructor(
    directory: string,
    private readonly file: string,
    clock: Clock,
  ) {
    super(CURSOR_KEYS, directory, clock);
  }

  /** Returns the key that encrypts new cursors. */
  current(): CursorKey {
    const key = this.inUse();
    if (!key) throw new Error('There is no cursor key.');
    return { id: cursorKeyId(key.kid), secret: key.material };
  }

  /** Returns the key that its cursors call by this id, or null when it is unknown or removed. */
  find(id: string): CursorKey | null {
    for (const { kid, material } of this.keys.values()) if (cursorKeyId(kid) === id) return { id, secret: material };
    return null;
  }

  protected override async read(faults: string[]): Promise<LoadedKey<Buffer>[]> {
    try {
      this.inFile = (await readCursorKeysFile(this.file)).map((key) => this.withTimeSeen(key));
    } catch (error) {
      faults.push((error as Error).message);
    }
    return [...(await super.read(faults)), ...this.inFile];
  }
}
