import { dirname } from 'node:path';
import type { Clock } from '#libs/kernel';
import { withKeyLock } from './key-lock';
import { type DatedKey, KeysUnusable, LastKey, madeAfter } from './key-rotation';
import { readSecretFileSync, replaceSecretFile } from '../config/secret-file';
import { type CursorKey, cursorKeyFile, newCursorKey, readCursorKeys } from './cursor-keys';

/** Lists ids and times of the keys in CURSOR_KEYS_FILE, newest first. Empty without a file. */
export function listCursorKeys(file: string): DatedKey[] {
  return read(file).map(({ kid, createdAt }) => ({ kid, createdAt }));
}

/** Adds a key. It issues cursors once every instance knows it. @throws {@link KeysUnusable} when no key exists yet */
export async function rotateCursorKey(file: string, clock: Clock): Promise<DatedKey> {
  return withKeyLock(directoryOf(file), () => {
    const keys = read(file);
    if (keys.length === 0) throw noKeys(file);
    const key = newCursorKey(madeAfter(keys[0], clock.now()));
    replaceSecretFile(file, cursorKeyFile([key, ...keys]), file);
    return { kid: key.kid, createdAt: key.createdAt };
  });
}

/** Removes a key; its cursors are refused from then on. Returns false for an unknown key. @throws {@link LastKey} */
export async function removeCursorKey(file: string, kid: string): Promise<boolean> {
  return withKeyLock(directoryOf(file), () => {
    const keys = read(file);
    const kept = keys.filter((key) => key.kid !== kid);
    if (kept.length === keys.length) return false;
    if (kept.length === 0) throw new LastKey('cursor', kid);
    replaceSecretFile(file, cursorKeyFile(kept), file);
    return true;
  });
}

function read(file: string): CursorKey[] {
  let text: string;
  try {
    text = readSecretFileSync(file).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return readCursorKeys(text);
}

function directoryOf(file: string): string {
  if (read(file).length === 0) throw noKeys(file);
  return dirname(file);
}

const noKeys = (file: string): KeysUnusable =>
  new KeysUnusable(`CURSOR_KEYS_FILE names ${file}, which does not exist; run: admin keys init`);
