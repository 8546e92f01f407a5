import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** What `credentials.json` holds. */
export interface KeptCredentials extends Credentials {
  readonly workspace: string;
  /** Those of the application for Swagger UI. */
  readonly explorer: Credentials;
  /** Tells under which pepper the secrets were made; under another they are worthless. */
  readonly pepperFingerprint: string;
}

/** Null when there is none, or nothing that can be used. */
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

/** Readable by this user only, and never half written. */
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
