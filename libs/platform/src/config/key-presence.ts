import { readFileSync, readdirSync } from 'node:fs';
import { type Settings, SettingsInvalid } from './settings';

/** In bytes, of the keys that are read as they stand. `admin keys init` makes longer ones. */
const SHORTEST = { SECRET_PEPPER_FILE: 16, AUDIT_KEY_FILE: 32 } as const;

/**
 * Looks whether every key is where the settings say and can be read, before anything needs one of them. Throws
 * {@link SettingsInvalid} with every fault; what stands in the keys of tokens and cursors is for their readers to judge.
 */
export function assertKeysReadable(settings: Settings): void {
  const faults = [
    faultOf('SIGNING_KEYS_DIR', settings.signingKeysDir, (path) => void readdirSync(path)),
    faultOf('CURSOR_KEYS_FILE', settings.cursorKeysFile, (path) => void readFileSync(path)),
    faultOf('SECRET_PEPPER_FILE', settings.secretPepperFile, atLeast(SHORTEST.SECRET_PEPPER_FILE)),
    faultOf('AUDIT_KEY_FILE', settings.auditKeyFile, atLeast(SHORTEST.AUDIT_KEY_FILE)),
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw new SettingsInvalid(faults);
}

class TooShort extends Error {}

const atLeast = (bytes: number) => (path: string) => {
  if (readFileSync(path).length < bytes) throw new TooShort(`holds less than ${bytes} bytes`);
};

function faultOf(setting: string, path: string, read: (path: string) => void): string | null {
  try {
    read(path);
    return null;
  } catch (error) {
    const names = `${setting} names ${path}, which`;
    if (error instanceof TooShort) return `${names} ${error.message}`;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return code === 'ENOENT' ? `${names} does not exist; run: admin keys init` : `${names} cannot be read (${code})`;
  }
}
