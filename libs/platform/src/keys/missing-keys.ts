import { readdirSync } from 'node:fs';
import { type Settings, SettingsInvalid } from '../config/settings';
import { makeFirstKey } from './key-files';
import { KEY_KINDS, type KeyKind } from './key-kinds';
import { KeysUnusable } from './key-rotation';
import { type SecretFile, makeSecret, readNamed, readSecret } from './secret-files';

/**
 * Creates missing keys at the configured paths. Of several processes that start together exactly one creates each key.
 * Returns the paths that this call created, or added a key to.
 */
export async function makeMissingKeys(
  settings: Settings,
  secretFiles: readonly SecretFile[],
  kinds: readonly KeyKind<unknown>[] = Object.values(KEY_KINDS),
): Promise<string[]> {
  const made = new Set<string>();
  const { signingKeysDir } = settings;
  for (const kind of kinds) if (await makeFirstKey(kind, signingKeysDir)) made.add(signingKeysDir);
  for (const file of secretFiles) if (makeSecret(file, settings)) made.add(file.path(settings));
  return [...made];
}

/**
 * Checks that every configured key file exists and is readable.
 * @throws {@link SettingsInvalid} with every fault. The keys in SIGNING_KEYS_DIR are checked when they are read.
 */
export function assertKeysReadable(settings: Settings, secretFiles: readonly SecretFile[]): void {
  const faults: string[] = [];
  const reads = [
    () => readNamed('SIGNING_KEYS_DIR', settings.signingKeysDir, (path) => readdirSync(path)),
    ...secretFiles.map((file) => () => readSecret(file, settings)),
  ];
  for (const read of reads) {
    try {
      read();
    } catch (error) {
      if (!(error instanceof KeysUnusable)) throw error;
      faults.push(error.message);
    }
  }
  if (faults.length > 0) throw new SettingsInvalid(faults);
}
