import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '#libs/kernel';
import { readSecretFile } from '../config/secret-file';
import { keyFile, listKeys } from './key-files';
import type { KeyKind } from './key-kinds';
import type { KeyReading, RereadableKeys } from './key-rereading';
import { type DatedKey, KeysUnusable, keyInUse, newestFirst } from './key-rotation';

export interface LoadedKey<Material> extends DatedKey {
  readonly material: Material;
  /** Digest of the file. Parsing takes milliseconds, so unchanged files are not parsed again. */
  readonly digest: string;
}

/** The keys of one kind in SIGNING_KEYS_DIR as last read. One is used; all are accepted. Never writes to the directory. */
export class LoadedKeys<Material> implements RereadableKeys {
  /** Newest first. */
  protected keys: ReadonlyMap<string, LoadedKey<Material>> = new Map();

  constructor(
    private readonly kind: KeyKind<Material>,
    private readonly directory: string,
    private readonly clock: Clock,
  ) {}

  /** Returns the key that signs or seals now, or null without any key. */
  inUse(): LoadedKey<Material> | null {
    return keyInUse([...this.keys.values()], this.clock.now()) ?? null;
  }

  /** @throws {@link KeysUnusable} when there is no key, or a file is not a key */
  async open(): Promise<this> {
    const { faults } = await this.reread();
    if (faults.length > 0) throw new KeysUnusable(`${faults.join(' ')} SIGNING_KEYS_DIR names ${this.directory}.`);
    return this;
  }

  async reread(): Promise<KeyReading> {
    const faults: string[] = [];
    try {
      const keys = await this.read(faults);
      if (keys.length > 0) this.keys = new Map(keys.sort(newestFirst).map((key) => [key.kid, key]));
      else if (faults.length === 0) faults.push(this.noKeys());
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      faults.push(`SIGNING_KEYS_DIR cannot be read (${code ?? message}).`);
    }
    return { kids: [...this.keys.keys()], faults };
  }

  protected async read(faults: string[]): Promise<LoadedKey<Material>[]> {
    const keys: LoadedKey<Material>[] = [];
    for (const listed of await listKeys(this.kind, this.directory)) {
      const key = await this.take(listed, faults);
      if (key) keys.push(key);
    }
    return keys;
  }

  /** A replaced file counts as a new key, because other instances may not have read it yet. */
  protected withTimeSeen(key: LoadedKey<Material>): LoadedKey<Material> {
    const known = this.keys.get(key.kid);
    if (known?.digest === key.digest) return known;
    return this.keys.size === 0 ? key : { ...key, seenAt: this.clock.now() };
  }

  /** Reads a key. Falls back to the previously known key when the file is unusable. */
  private async take({ kid, createdAt }: DatedKey, faults: string[]): Promise<LoadedKey<Material> | null> {
    const file = keyFile(this.kind, kid);
    const known = this.keys.get(kid) ?? null;
    let content: string;
    try {
      content = (await readSecretFile(join(this.directory, file))).toString();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // The file was removed after the directory was listed.
      if (code === 'ENOENT') return null;
      faults.push(`SIGNING_KEYS_DIR: ${file} cannot be read (${code}).`);
      return known;
    }
    const digest = hash('sha256', content);
    if (known?.digest === digest) return known;
    const material = this.kind.parse(content);
    if (material !== null) return this.withTimeSeen({ kid, createdAt, digest, material });
    faults.push(`SIGNING_KEYS_DIR: ${file} is no ${this.kind.description}.`);
    return known;
  }

  private noKeys(): string {
    return `SIGNING_KEYS_DIR holds no key (*${this.kind.suffix}); admin keys init makes one.`;
  }
}
