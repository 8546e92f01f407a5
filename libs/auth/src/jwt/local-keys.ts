import { randomBytes } from 'node:crypto';
import { type Settings, SystemClock } from '#libs/platform/config';
import { makeSecretDirectoryOnce, makeSecretFileOnce, newCursorKeyFile } from '#libs/platform/keys';
import { listSigningKeys, newSigningKeyFile } from './signing-key-files';

/**
 * Creates missing keys at the configured paths. Of several processes that start together exactly one creates each key.
 * Returns the paths that this call created.
 */
export async function makeMissingKeys(settings: Settings): Promise<string[]> {
  const made: string[] = [];
  const clock = new SystemClock();
  const signing = await makeSecretDirectoryOnce(
    settings.signingKeysDir,
    async (directory) => (await listSigningKeys(directory)).length > 0,
    async () => {
      const { name, content } = await newSigningKeyFile(clock);
      return { [name]: content };
    },
  );
  if (signing) made.push(settings.signingKeysDir);
  const cursor = makeSecretFileOnce(settings.cursorKeysFile, () => newCursorKeyFile(clock.now()));
  if (cursor) made.push(settings.cursorKeysFile);
  for (const file of [settings.secretPepperFile, settings.auditKeyFile]) {
    if (makeSecretFileOnce(file, () => `${randomBytes(32).toString('base64')}\n`)) made.push(file);
  }
  return made;
}
