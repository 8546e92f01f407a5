import { readdirSync } from 'node:fs';
import { readSecretFileSync } from '../config/secret-file';
import { type Settings, SettingsInvalid } from '../config/settings';

/** In bytes; `admin keys init` makes longer ones. */
export const SHORTEST_PEPPER = 16;
/** In bytes: shorter keys of HMAC-SHA256 are weaker than its output. */
export const SHORTEST_AUDIT_KEY = 32;

/**
 * Looks whether every key is where the settings say and can be read, before anything needs one of them. Throws
 * {@link SettingsInvalid} with every fault; what stands in the keys of tokens and cursors is for their readers to judge.
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

/** Why a key cannot be read, for an operator; `code` is the system's for the error. */
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
