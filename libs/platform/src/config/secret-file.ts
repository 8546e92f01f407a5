import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** O_NONBLOCK: opening a pipe must not wait for a writer. */
const READING = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a file of secrets. @throws for anything but a regular file, because a pipe or a device may block for ever. */
export async function readSecretFile(path: string): Promise<Buffer> {
  const file = await open(path, READING);
  try {
    assertRegular(path, await file.stat());
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** The synchronous form of {@link readSecretFile}, for commands and for the start of an instance. */
export function readSecretFileSync(path: string): Buffer {
  const file = openSync(path, READING);
  try {
    assertRegular(path, fstatSync(file));
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function assertRegular(path: string, file: Stats): void {
  // Reading a directory fails by itself.
  if (file.isFile() || file.isDirectory()) return;
  throw Object.assign(new Error(`${path} is not a regular file`), { code: 'not a regular file', path });
}

/**
 * Creates a file together with its content, flushed to disk, unless it exists. Of several processes exactly one creates
 * it. `like` gives mode and owner. By default only the own user can read the file.
 */
export function createOnce(path: string, content: string, like: Partial<Stats> = {}): boolean {
  const draft = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    const { mode = 0o600, uid, gid } = like;
    if (uid !== undefined && gid !== undefined) giveTo(file, uid, gid);
    fchmodSync(file, mode & 0o666);
    fsyncSync(file);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
  syncDirectory(dirname(path));
  return true;
}

/** Deletes a file of secrets and flushes the directory. */
export function removeSecretFile(path: string): void {
  rmSync(path);
  syncDirectory(dirname(path));
}

function giveTo(file: number, uid: number, gid: number): void {
  const own = fstatSync(file);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    // Only root can change the owner. Any other user must make the key readable for the API.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
