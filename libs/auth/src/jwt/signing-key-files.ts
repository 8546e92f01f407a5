import { generateKeyPair, randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '#libs/kernel';
import { readSecretFile, removeSecretFile, replaceSecretFile } from '#libs/platform/config';
import { type DatedKey, KeysUnusable, LastKey, madeAfter, newestFirst, withKeyLock } from '#libs/platform/keys';
import { parseRsaKeyPair } from './rsa-key-pair';

// Dotfiles, as drafts are, and whatever else stands there are no keys.
const KEY_FILE = /^([A-Za-z0-9_-]{1,64})\.pem$/;
const MADE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})?Z/;

/** A new key as the file to keep it in. The name begins with the time of making, which decides from when it signs. */
export async function newSigningKeyFile(clock: Clock): Promise<{ readonly name: string; readonly content: string }> {
  const content = await newPrivateKey();
  return { name: `${kidOf(clock.now())}.pem`, content };
}

/** The keys in SIGNING_KEYS_DIR by their files' names, newest first. Their content is not read. */
export async function listSigningKeys(directory: string): Promise<DatedKey[]> {
  const keys: DatedKey[] = [];
  for (const name of await readdir(directory)) {
    const [, kid] = KEY_FILE.exec(name) ?? [];
    const createdAt = kid === undefined ? null : (timeIn(kid) ?? (await changedAt(join(directory, name))));
    if (kid !== undefined && createdAt !== null) keys.push({ kid, createdAt });
  }
  return keys.sort(newestFirst);
}

/** Adds a key, which signs once every replica has it. Throws {@link KeysUnusable} when there is none yet. */
export async function rotateSigningKey(directory: string, clock: Clock): Promise<DatedKey> {
  await assertKeys(directory);
  // Takes a second or more: before the turn, and before the time that the key is named by.
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
 * Takes a key away; its tokens are refused from then on. False: it is not there. Throws {@link LastKey} where no other can
 * be used: replicas that run would keep this one, and none would start.
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

/** For a key that was brought along under another name; null when it went away meanwhile. */
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
