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

/** Opens at once, whatever the path names. */
const READING = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a file of secrets. @throws for anything but a regular file: a pipe or a device may wait for ever. */
export async function readSecretFile(path: string): Promise<Buffer> {
  const file = await open(path, READING);
  try {
    assertRegular(path, await file.stat());
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** The same where nobody is served yet. */
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
 * Puts a file of secrets into its place in one step: whoever reads sees the file before or this one, never a part.
 * It is kept on disk when this returns. Owner and mode are those of `model`, so that who could read the keys can read
 * the new one, also when root makes it. Callers take turns, so a draft that a crash left is overwritten by the next.
 */
export function replaceSecretFile(path: string, content: string, model: string): void {
  const draft = join(dirname(path), '.keys-draft');
  // A draft that was left may belong to another user.
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

/** Takes a file of secrets away, for good when this returns. */
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
    // Only root gives files away; whoever else made the key has to see to it that the API can read it.
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
