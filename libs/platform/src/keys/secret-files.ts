import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createOnce, readSecretFileSync } from '../config/secret-file';
import { KeysUnusable } from './key-rotation';
import type { Settings } from '../config/settings';

/** A file whose bytes are one secret, which a feature needs. It has no rotation. */
export interface SecretFile {
  readonly setting: 'SECRET_PEPPER_FILE' | 'AUDIT_KEY_FILE';
  readonly path: (settings: Settings) => string;
  /** In bytes. `admin keys init` makes longer ones. */
  readonly shortest: number;
}

/** @throws {@link KeysUnusable} with a message for the operator */
export function readSecret({ setting, path, shortest }: SecretFile, settings: Settings): Buffer {
  const secret = readNamed(setting, path(settings), readSecretFileSync);
  if (secret.length >= shortest) return secret;
  throw new KeysUnusable(`${setting} names ${path(settings)}, which holds less than ${shortest} bytes`);
}

/** Reads the file or directory that a setting names. @throws {@link KeysUnusable} with a message for the operator */
export function readNamed<Content>(setting: string, path: string, read: (path: string) => Content): Content {
  try {
    return read(path);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const fault = code === 'ENOENT' ? 'does not exist; run: admin keys init' : `cannot be read (${code})`;
    throw new KeysUnusable(`${setting} names ${path}, which ${fault}`);
  }
}

/** Makes the file. Returns false when there is one. */
export function makeSecret(file: SecretFile, settings: Settings): boolean {
  const path = file.path(settings);
  if (existsSync(path)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return createOnce(path, `${randomBytes(32).toString('base64')}\n`);
}
