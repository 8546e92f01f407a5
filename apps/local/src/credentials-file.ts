import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** The content of `credentials.json`. */
export interface KeptCredentials extends Credentials {
  readonly workspace: string;
  /** Credentials of the application for Swagger UI. */
  readonly explorer: Credentials;
}

/** Returns null when the file is missing or unusable. */
export function readCredentials(path: string): KeptCredentials | null {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as Partial<KeptCredentials> | null;
    return found && isComplete(found) && found.explorer && isComplete(found.explorer)
      ? (found as KeptCredentials)
      : null;
  } catch {
    return null;
  }
}

/** Writes the file atomically, readable by this user only. */
export function keepCredentials(path: string, credentials: KeptCredentials): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function isComplete(credentials: Partial<Credentials>): boolean {
  return typeof credentials.client_id === 'string' && typeof credentials.client_secret === 'string';
}
