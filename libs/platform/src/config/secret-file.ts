import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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
 * Replaces a file of secrets atomically and flushes it to disk: readers see the old file or the new one, never a part.
 * The new file gets the owner and mode of `model`, so its readers can read it even when root writes it.
 * Callers hold the key lock, so a draft left by a crash is simply overwritten.
 */
export function replaceSecretFile(path: string, content: string, model: string): void {
  const draft = join(dirname(path), '.keys-draft');
  // A draft left by a crash may belong to another user.
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    const { uid, gid, mode } = statSync(model);
    giveTo(draft, uid, gid);
    chmodSync(draft, mode & 0o666);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncDirectory(dirname(path));
}

/** Deletes a file of secrets and flushes the directory. */
export function removeSecretFile(path: string): void {
  rmSync(path);
  syncDirectory(dirname(path));
}

function giveTo(path: string, uid: number, gid: number): void {
  const own = statSync(path);
  if (own.uid === uid && own.gid === gid) return;
  try {
    chownSync(path, uid, gid);
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
