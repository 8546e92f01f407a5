import { generateKeyPair, randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '#libs/kernel';
import { readSecretFile, removeSecretFile, replaceSecretFile } from '#libs/platform/config';
import { type DatedKey, KeysUnusable, LastKey, madeAfter, newestFirst, withKeyLock } from '#libs/platform/keys';
import { parseRsaKeyPair } from './rsa-key-pair';

// Matches keys only. Drafts are dotfiles, and other files are ignored.
const KEY_FILE = /^([A-Za-z0-9_-]{1,64})\.pem$/;
const MADE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})?Z/;

/**
 * Returns a new key with its file name. The name starts with the creation time, which decides when it starts to sign.
 */
export async function newSigningKeyFile(clock: Clock): Promise<{ readonly name: string; readonly content: string }> {
  const content = await newPrivateKey();
  return { name: `${kidOf(clock.now())}.pem`, content };
}

/** Lists the keys in SIGNING_KEYS_DIR by file name, newest first. Does not read them. */
export async function listSigningKeys(directory: string): Promise<DatedKey[]> {
  const keys: DatedKey[] = [];
  for (const name of await readdir(directory)) {
    const [, kid] = KEY_FILE.exec(name) ?? [];
    const createdAt = kid === undefined ? null : (timeIn(kid) ?? (await changedAt(join(directory, name))));
    if (kid !== undefined && createdAt !== null) keys.push({ kid, createdAt });
  }
  return keys.sort(newestFirst);
}

/** Adds a key. It signs once every instance knows it. @throws {@link KeysUnusable} when no key exists yet */
export async function rotateSigningKey(directory: string, clock: Clock): Promise<DatedKey> {
  await assertKeys(directory);
  // Takes a second or more, so it runs before the lock and before the time in the key's name is set.
  const content = await newPrivateKey();
  return withKeyLock(directory, async () => {
    const [newest] = await listSigningKeys(directory);
    if (!newest) throw noKeys(directory);
    const createdAt = madeAfter(newest, clock.now());
    const kid = kidOf(createdAt);
    replaceSecretFile(join(directory, `${kid}.pem`), content, join(directory, `${newest.kid}.pem`));
    return { kid, createdAt };
  });
}

/**
 * Removes a key; its tokens are refused from then on. Returns false for an unknown key.
 * @throws {@link LastKey} when no other key is usable: running instances would keep this one, and none could start
 */
export async function removeSigningKey(directory: string, kid: string): Promise<boolean> {
  await assertKeys(directory);
  return withKeyLock(directory, async () => {
    const keys = await listSigningKeys(directory);
    if (!keys.some((key) => key.kid === kid)) return false;
    const others = keys.filter((key) => key.kid !== kid);
    if (!(await isAnyUsable(directory, others))) throw new LastKey('signing', kid);
    removeSecretFile(join(directory, `${kid}.pem`));
    return true;
  });
}

async function isAnyUsable(directory: string, keys: readonly DatedKey[]): Promise<boolean> {
  for (const { kid } of keys) {
    const pem = await readSecretFile(join(directory, `${kid}.pem`)).catch(() => '');
    if (parseRsaKeyPair(pem.toString())) return true;
  }
  return false;
}

async function newPrivateKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 3072 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

function kidOf(createdAt: number): string {
  const made = new Date(createdAt).toISOString().replace(/[-:.]/g, '');
  return `${made}-${randomBytes(4).toString('hex')}`;
}

function timeIn(kid: string): number | null {
  const made = MADE.exec(kid);
  if (made === null) return null;
  const [, year, month, day, hour, minute, second, millisecond = '000'] = made;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
  return Number.isNaN(time) ? null : time;
}

/** Dates a key whose file name has no time. Returns null when the file has vanished. */
async function changedAt(path: string): Promise<number | null> {
  try {
    return Math.floor((await stat(path)).mtimeMs);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function assertKeys(directory: string): Promise<void> {
  const keys = await listSigningKeys(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (keys.length === 0) throw noKeys(directory);
}

const noKeys = (directory: string): KeysUnusable =>
  new KeysUnusable(`SIGNING_KEYS_DIR names ${directory}, which holds no key (*.pem); run: admin keys init`);
