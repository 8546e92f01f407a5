import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCK_MS, type StoredToken, type TokenStore, type Unlock, parseStoredToken } from './token-store';

/**
 * Shares tokens between processes of one machine, or of several that mount the same directory. Keeps one file for each
 * application, readable by its user only, and replaces it atomically. Choose a directory that nobody else can write to.
 */
export class FileTokenStore implements TokenStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(application: string): Promise<StoredToken | null> {
    const text = await readFile(this.#path(application), 'utf8').catch(unlessAbsent);
    return text === null ? null : parseStoredToken(text);
  }

  async write(application: string, token: StoredToken): Promise<void> {
    await this.#makeDirectory();
    const draft = this.#path(application, `.${randomUUID()}`);
    try {
      await writeFile(draft, JSON.stringify(token), { mode: 0o600, flag: 'wx' });
      await rename(draft, this.#path(application));
    } finally {
      await rm(draft, { force: true });
    }
  }

  async tryLock(application: string): Promise<Unlock | null> {
    await this.#makeDirectory();
    const lock = this.#path(application, '.lock');
    const holder = randomUUID();
    try {
      await writeFile(lock, holder, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      await removeLapsed(lock);
      return null;
    }
    return async () => {
      // After a pause longer than the lock's lifetime, another worker may hold it.
      if ((await readFile(lock, 'utf8').catch(unlessAbsent)) === holder) await rm(lock, { force: true });
    };
  }

  async #makeDirectory(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
  }

  #path(application: string, suffix = ''): string {
    return join(this.#directory, `${createHash('sha256').update(application).digest('hex').slice(0, 32)}${suffix}`);
  }
}

/**
 * Removes an expired lock; the next attempt takes it. Two workers that find it expired at the same moment may both get
 * it. The later token then supersedes the earlier one, and the other worker finds it in the store.
 */
async function removeLapsed(lock: string): Promise<void> {
  const found = await stat(lock).catch(unlessAbsent);
  if (found !== null && Date.now() - found.mtimeMs > LOCK_MS) await rm(lock, { force: true });
}

function unlessAbsent(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
