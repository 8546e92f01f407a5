import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '#libs/kernel';
import type { Settings } from '../config/settings';
import { SystemClock } from '../config/system-clock';
import { newCursorKeyFile } from './cursor-keys';
import { withKeyLock } from './key-lock';
import { type PemKeyKind, listPemKeys, newPemKeyFile } from './pem-key-files';
import { CHECKPOINT_KEYS, TOKEN_KEYS } from './pem-key-kinds';
import { createOnce } from './ticket-files';

/**
 * Creates missing keys at the configured paths. Of several processes that start together exactly one creates each key.
 * Returns the paths that this call created, or added a key to.
 */
export async function makeMissingKeys(settings: Settings): Promise<string[]> {
  const made = new Set<string>();
  const clock = new SystemClock();
  for (const kind of [TOKEN_KEYS, CHECKPOINT_KEYS]) {
    if (await makeFirstKey(kind, settings.signingKeysDir, clock)) made.add(settings.signingKeysDir);
  }
  const secret = (): string => `${randomBytes(32).toString('base64')}\n`;
  const files = [
    [settings.cursorKeysFile, () => newCursorKeyFile(clock.now())],
    [settings.secretPepperFile, secret],
    [settings.auditKeyFile, secret],
  ] as const;
  for (const [file, content] of files) {
    if (existsSync(file)) continue;
    makeDirectory(dirname(file));
    if (createOnce(file, content(), 0o600)) made.add(file);
  }
  return [...made];
}

/** Returns false when the directory holds a key of the kind. It may be the root of a volume, and keeps its owner. */
async function makeFirstKey(kind: PemKeyKind, directory: string, clock: Clock): Promise<boolean> {
  makeDirectory(directory);
  const isFirst = async (): Promise<boolean> => (await listPemKeys(kind, directory)).length === 0;
  if (!(await isFirst())) return false;
  // May take seconds, so it runs before the lock is taken.
  const { name, content } = await newPemKeyFile(kind, clock);
  return withKeyLock(directory, async () => (await isFirst()) && createOnce(join(directory, name), content, 0o600));
}

function makeDirectory(path: string): void {
  if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
}
