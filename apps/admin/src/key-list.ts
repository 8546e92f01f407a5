import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '#libs/platform';
import { CommandFailed } from './command-faults';

export interface ListedKey {
  readonly use: 'signing' | 'cursor';
  readonly kid: string;
  /** Whether new tokens or cursors are made with it; the others are only accepted. */
  readonly current: boolean;
  readonly createdAt: Date;
}

/** Keys by their ids, newest first. Nothing of the keys themselves is read into the result. */
export function listKeys(settings: Settings): ListedKey[] {
  return [...signingKeys(settings.signingKeysDir), ...cursorKeys(settings.cursorKeysFile)];
}

function signingKeys(directory: string): ListedKey[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => /^[A-Za-z0-9_-]{1,64}\.pem$/.test(name));
  return names
    .sort()
    .reverse()
    .map((name, index) => ({
      use: 'signing',
      kid: name.slice(0, -'.pem'.length),
      current: index === 0,
      createdAt: statSync(join(directory, name)).mtime,
    }));
}

function cursorKeys(file: string): ListedKey[] {
  if (!existsSync(file)) return [];
  return keysOf(file).map(({ kid, createdAt }, index) => {
    if (typeof kid !== 'string' || typeof createdAt !== 'string') throw notAKeyFile(file);
    return { use: 'cursor', kid, current: index === 0, createdAt: new Date(createdAt) };
  });
}

function keysOf(file: string): { kid?: unknown; createdAt?: unknown }[] {
  const text = readFileSync(file, 'utf8');
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    if (Array.isArray(keys)) return keys as { kid?: unknown; createdAt?: unknown }[];
  } catch {
    // What the parser says would show a piece of the keys.
  }
  throw notAKeyFile(file);
}

const notAKeyFile = (file: string): CommandFailed =>
  new CommandFailed(`CURSOR_KEYS_FILE ${file} is not a file of keys.`);
