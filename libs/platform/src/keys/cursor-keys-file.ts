import { hash } from 'node:crypto';
import { renameSync, rmSync, statSync } from 'node:fs';
import { z } from 'zod';
import { createOnce, readSecretFile } from '../config/secret-file';
import { isOneUsable } from './key-files';
import { CURSOR_KEYS } from './key-kinds';
import { KeysUnusable, LastKey } from './key-rotation';
import type { LoadedKey } from './loaded-keys';

// Release 1.0.0 kept its cursor keys in CURSOR_KEYS_FILE. Release 1.1.0 is the last one that reads it.
const keysFileSchema = z.object({
  keys: z.array(z.object({ kid: z.string().regex(/^[0-9a-f]{8}$/), secret: z.base64(), createdAt: z.iso.datetime() })),
});

type Entry = z.infer<typeof keysFileSchema>['keys'][number];

/** Returns the keys of the file, none when there is no file. @throws {@link KeysUnusable}, which quotes no key */
export async function readCursorKeysFile(file: string): Promise<LoadedKey<Buffer>[]> {
  return (await entriesOf(file)).map(({ kid, secret, createdAt }) => {
    const material = Buffer.from(secret, 'base64');
    if (material.length !== 32)
      throw new KeysUnusable(`CURSOR_KEYS_FILE (${file}): the key ${kid} is not of 32 bytes.`);
    return { kid, createdAt: Date.parse(createdAt), material, digest: hash('sha256', secret) };
  });
}

/**
 * Removes a key; its cursors are refused from then on. Returns false for an unknown key.
 * @throws {@link LastKey} when no other key of the file or the directory is usable
 */
export async function removeFromCursorKeysFile(file: string, kid: string, directory: string): Promise<boolean> {
  const entries = await entriesOf(file);
  const keys = entries.filter((key) => key.kid !== kid);
  if (keys.length === entries.length) return false;
  if (keys.length === 0 && !(await isOneUsable(CURSOR_KEYS, directory, kid))) throw new LastKey('cursor', kid);
  if (keys.length === 0) rmSync(file);
  else {
    const draft = `${file}.new`;
    rmSync(draft, { force: true });
    createOnce(draft, JSON.stringify({ keys }), statSync(file));
    renameSync(draft, file);
  }
  return true;
}

async function entriesOf(file: string): Promise<Entry[]> {
  let text: string;
  try {
    text = (await readSecretFile(file)).toString();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new KeysUnusable(`CURSOR_KEYS_FILE (${file}) cannot be read (${code}).`);
  }
  try {
    return keysFileSchema.parse(JSON.parse(text)).keys;
  } catch {
    // The parser's own message would quote part of the keys.
    throw new KeysUnusable(`CURSOR_KEYS_FILE (${file}) is not a file of cursor keys.`);
  }
}
