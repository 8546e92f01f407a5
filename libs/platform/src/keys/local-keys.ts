import { randomBytes } from 'node:crypto';
import type { Settings } from '../config/settings';
import { SystemClock } from '../config/system-clock';
import { newCursorKeyFile } from './cursor-keys';
import { makeSecretDirectoryOnce, makeSecretFileOnce } from './key-files';
import { listPemKeys, newPemKeyFile } from './pem-key-files';
import { CHECKPOINT_KEYS, TOKEN_KEYS } from './pem-key-kinds';

/**
 * Creates missing keys at the configured paths. Of several processes that start together exactly one creates each key.
 * Returns the paths that this call created, or added a key to.
 */
export async function makeMissingKeys(settings: Settings): Promise<string[]> {
  const made = new Set<string>();
  const clock = new SystemClock();
  for (const kind of [TOKEN_KEYS, CHECKPOINT_KEYS]) {
    const isMade = await makeSecretDirectoryOnce(
      settings.signingKeysDir,
      async (directory) => (await listPemKeys(kind, directory)).length > 0,
      async () => {
        const { name, content } = await newPemKeyFile(kind, clock);
        return { [name]: content };
      },
    );
    if (isMade) made.add(settings.signingKeysDir);
  }
  const cursor = makeSecretFileOnce(settings.cursorKeysFile, () => newCursorKeyFile(clock.now()));
  if (cursor) made.add(settings.cursorKeysFile);
  for (const file of [settings.secretPepperFile, settings.auditKeyFile]) {
    if (makeSecretFileOnce(file, () => `${randomBytes(32).toString('base64')}\n`)) made.add(file);
  }
  return [...made];
}
