import { type KeyObject, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#libs/kernel';
import { withKeyLock } from './key-lock';
import { type DatedKey, type KeyUse, KeysUnusable, LastKey, madeAfter, newestFirst } from './key-rotation';
import { readSecretFile, removeSecretFile, replaceSecretFile } from '../config/secret-file';

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** A kind of keys in SIGNING_KEYS_DIR. */
export interface PemKeyKind {
  readonly use: KeyUse;
  /** End of the file names. The rest is the key id, which has no dot, so no file has two kinds. */
  readonly suffix: '.pem' | '.checkpoint.pem';
  /** Algorithm in the key set (RFC 7517, 4.4). */
  readonly algorithm: string;
  /** For messages: "no …". */
  readonly description: string;
  generate(): Promise<KeyObject>;
  accepts(privateKey: KeyObject): boolean;
}

// Matches ids of keys only. Drafts are dotfiles, and other files are ignored.
const KID = /^[A-Za-z0-9_-]{1,64}$/;
const MADE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})?Z/;

/**
 * Returns a new key with its file name. The name starts with the creation time, which decides when it starts to sign.
 */
export async function newPemKeyFile(
  kind: PemKeyKind,
  clock: Clock,
): Promise<{ readonly name: string; readonly content: string }> {
  const content = await newPem(kind);
  return { name: pemKeyFile(kind, kidOf(clock.now())), content };
}

export const pemKeyFile = ({ suffix }: PemKeyKind, kid: string): string => `${kid}${suffix}`;

/** Lists the keys of a kind by file name, newest first. Does not read them. */
export async function listPemKeys(kind: PemKeyKind, directory: string): Promise<DatedKey[]> {
  const keys: DatedKey[] = [];
  for (const name of await readdir(directory)) {
    const kid = name.endsWith(kind.suffix) ? name.slice(0, -kind.suffix.length) : '';
    if (!KID.test(kid)) continue;
    const createdAt = timeIn(kid) ?? (await changedAt(join(directory, name)));
    if (createdAt !== null) keys.push({ kid, createdAt });
  }
  return keys.sort(newestFirst);
}

/** Adds a key. It signs once every instance knows it. @throws {@link KeysUnusable} when no key of the kind exists yet */
export async function rotatePemKey(kind: PemKeyKind, directory: string, clock: Clock): Promise<DatedKey> {
  await assertKeys(kind, directory);
  // May take a second or more, so it runs before the lock and before the time in the key's name is set.
  const content = await newPem(kind);
  return withKeyLock(directory, async () => {
    const [newest] = await listPemKeys(kind, directory);
    if (!newest) throw noKeys(kind, directory);
    const createdAt = madeAfter(newest, clock.now());
    const kid = kidOf(createdAt);
    const [path, model] = [kid, newest.kid].map((id) => join(directory, pemKeyFile(kind, id))) as [string, string];
    replaceSecretFile(path, content, model);
    return { kid, createdAt };
  });
}

/**
 * Removes a key; its signatures are refused from then on. Returns false for an unknown key.
 * @throws {@link LastKey} when no other key is usable: running instances would keep this one
 */
export async function removePemKey(kind: PemKeyKind, directory: string, kid: string): Promise<boolean> {
  await assertKeys(kind, directory);
  return withKeyLock(directory, async () => {
    const keys = await listPemKeys(kind, directory);
    if (!keys.some((key) => key.kid === kid)) return false;
    const others = keys.filter((key) => key.kid !== kid);
    if (!(await isAnyUsable(kind, directory, others))) throw new LastKey(kind.use, kid);
    removeSecretFile(join(directory, pemKeyFile(kind, kid)));
    return true;
  });
}

/** Parses a PEM file. Returns null unless it holds an unencrypted private key that the kind accepts. */
export function parseKeyPair(kind: PemKeyKind, pem: string): KeyPair | null {
  try {
    const privateKey = createPrivateKey(pem);
    return kind.accepts(privateKey) ? { privateKey, publicKey: createPublicKey(privateKey) } : null;
  } catch {
    // The parser's message would not help an operator.
    return null;
  }
}

async function isAnyUsable(kind: PemKeyKind, directory: string, keys: readonly DatedKey[]): Promise<boolean> {
  for (const { kid } of keys) {
    const pem = await readSecretFile(join(directory, pemKeyFile(kind, kid))).catch(() => '');
    if (parseKeyPair(kind, pem.toString())) return true;
  }
  return false;
}

async function newPem(kind: PemKeyKind): Promise<string> {
  const privateKey = await kind.generate();
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

async function assertKeys(kind: PemKeyKind, directory: string): Promise<void> {
  const keys = await listPemKeys(kind, directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (keys.length === 0) throw noKeys(kind, directory);
}

const noKeys = ({ suffix }: PemKeyKind, directory: string): KeysUnusable =>
  new KeysUnusable(`SIGNING_KEYS_DIR names ${directory}, which holds no key (*${suffix}); run: admin keys init`);
