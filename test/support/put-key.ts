import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyKind } from '#libs/platform/keys';

/** Writes a key that was made at this time, and returns its id. */
export async function putKey(kind: KeyKind<unknown>, directory: string, createdAt = Date.now()): Promise<string> {
  const kid = `${new Date(createdAt).toISOString().replace(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}`;
  writeFileSync(join(directory, `${kid}${kind.suffix}`), await kind.generate(), { mode: 0o600 });
  return kid;
}
