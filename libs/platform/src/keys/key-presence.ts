import { readdirSync } from 'node:fs';
import { readSecretFileSync } from '../config/secret-file';
import { type Settings, SettingsInvalid } from '../config/settings';

/** In bytes. `admin keys init` makes longer ones. */
export const SHORTEST_PEPPER = 16;
/** In bytes. Shorter HMAC-SHA256 keys are weaker than the output. */
export const SHORTEST_AUDIT_KEY = 32;

/**
 * Checks that every configured key file exists and is readable.
 * @throws {@link SettingsInvalid} with every fault. The contents of signing and cursor keys are checked when they are
 * read.
 */
export function assertKeysReadable(settings: Settings): void {
  const faults = [
    faultOf('SIGNING_KEYS_DIR', settings.signingKeysDir, readdirSync),
    faultOf('CURSOR_KEYS_FILE', settings.cursorKeysFile, readSecretFileSync),
    faultOf('SECRET_PEPPER_FILE', settings.secretPepperFile, readSecretFileSync, SHORTEST_PEPPER),
    faultOf('AUDIT_KEY_FILE', settings.auditKeyFile, readSecretFileSync, SHORTEST_AUDIT_KEY),
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw new SettingsInvalid(faults);
}

/** The operator's message for an unreadable key. `code` is the system's error code. */
export function unreadableKey(setting: string, path: string, code = 'unknown'): string {
  const names = `${setting} names ${path}, which`;
  return code === 'ENOENT' ? `${names} does not exist; run: admin keys init` : `${names} cannot be read (${code})`;
}

function faultOf(
  setting: string,
  path: string,
  read: (path: string) => { readonly length: number },
  shortest = 0,
): string | null {
  try {
    return read(path).length < shortest ? `${setting} names ${path}, which holds less than ${shortest} bytes` : null;
  } catch (error) {
    return unreadableKey(setting, path, (error as NodeJS.ErrnoException).code);
  }
}
