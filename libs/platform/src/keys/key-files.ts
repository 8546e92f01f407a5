import { hash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { link, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#libs/kernel';
import { createOnce, readSecretFile, removeSecretFile } from '../config/secret-file';
import { KEY_KINDS, type KeyKind } from './key-kinds';
import { type DatedKey, KeysUnusable, LastKey, madeAfter, newestFirst } from './key-rotation';

type AnyKind = KeyKind<unknown>;

// Matches ids of keys only. Drafts are dotfiles, and other files are ignored.
const KID = /^[A-Za-z0-9_-]{1,64}$/;
const MADE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})?Z/;

/** Lists the keys of a kind by file name, newest first. Does not read them. */
export async function listKeys(kind: AnyKind, directory: string): Promise<DatedKey[]> {
  const keys: DatedKey[] = [];
  for (const name of await readdir(directory)) {
    const kid = name.endsWith(kind.suffix) ? name.slice(0, -kind.suffix.length) : '';
    if (!KID.test(kid)) continue;
    const createdAt = timeIn(kid) ?? (await changedAt(join(directory, name)));
    if (createdAt !== null) keys.push({ kid, createdAt });
  }
  return keys.sort(newestFirst);
}

export const keyFile = ({ suffix }: AnyKind, kid: string): string => `${kid}${suffix}`;

/**
 * Makes the first key of a kind. Returns false when there is one. Of several processes that start together exactly one
 * makes it, and none ever sees another: each links the same claim to the same name. After a crash the next one does.
 */
export async function makeFirstKey(kind: AnyKind, directory: string): Promise<boolean> {
  // It may be the root of a volume, and keeps its owner.
  if (!existsSync(directory)) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const isFirst = async (): Promise<boolean> => (await listKeys(kind, directory)).length === 0;
  if (!(await isFirst())) return false;
  const claim = join(directory, `.first${kind.suffix}`);
  createOnce(claim, await kind.generate(), await ownerIn(directory));
  try {
    const { mtimeMs } = await stat(claim);
    const kid = kidOf(Math.floor(mtimeMs), hash('sha256', await readSecretFile(claim)));
    if (!(await isFirst())) return false;
    await link(claim, join(directory, keyFile(kind, kid)));
    return true;
  } catch (error) {
    if (['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  } finally {
    await rm(claim, { force: true });
  }
}

/** Adds a key. It is used once every instance knows it. @throws {@link KeysUnusable} in a directory without any key */
export async function rotateKey(kind: AnyKind, directory: string, clock: Clock): Promise<DatedKey> {
  const owner = await ownerIn(directory);
  if (!owner) throw new KeysUnusable(`SIGNING_KEYS_DIR names ${directory}, which holds no key; run: admin keys init`);
  const content = await kind.generate();
  const [newest] = await listKeys(kind, directory);
  const createdAt = madeAfter(newest, clock.now());
  const kid = kidOf(createdAt, randomBytes(4).toString('hex'));
  createOnce(join(directory, keyFile(kind, kid)), content, owner);
  return { kid, createdAt };
}

/**
 * Removes a key; what it signed or sealed is refused from then on. Returns false for an unknown key.
 * @throws {@link LastKey} when no other key is usable: running instances would keep this one
 */
export async function removeKey(kind: AnyKind, directory: string, kid: string): Promise<boolean> {
  const keys = await listKeys(kind, directory);
  if (!keys.some((key) => key.kid === kid)) return false;
  const isOtherUsable = (): Promise<boolean> => isOneUsable(kind, directory, kid);
  if (!(await isOtherUsable())) throw new LastKey(kind.use, kid);
  const path = join(directory, keyFile(kind, kid));
  const removed = join(directory, `.removed-${keyFile(kind, kid)}`);
  renameSync(path, removed);
  // Another command may have removed the other key meanwhile.
  if (await isOtherUsable()) {
    removeSecretFile(removed);
    return true;
  }
  renameSync(removed, path);
  throw new LastKey(kind.use, kid);
}

/** Tells whether a key of a kind, other than this one, can be used. */
export async function isOneUsable(kind: AnyKind, directory: string, except: string): Promise<boolean> {
  for (const { kid } of await listKeys(kind, directory)) {
    if (kid !== except && (await isUsable(kind, join(directory, keyFile(kind, kid))))) return true;
  }
  return false;
}

async function isUsable(kind: AnyKind, path: string): Promise<boolean> {
  return kind.parse((await readSecretFile(path).catch(() => '')).toString()) !== null;
}

/** Any key of the directory is the model for a new one, so that its readers can read it even when root writes it. */
async function ownerIn(directory: string) {
  for (const kind of Object.values(KEY_KINDS)) {
    const [key] = await listKeys(kind, directory).catch(ignoreMissing);
    if (key) return statSync(join(directory, keyFile(kind, key.kid)));
  }
  return undefined;
}

function ignoreMissing(error: NodeJS.ErrnoException): DatedKey[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

function kidOf(createdAt: number, distinction: string): string {
  return `${new Date(createdAt).toISOString().replace(/[-:.]/g, '')}-${distinction.slice(0, 8)}`;
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
