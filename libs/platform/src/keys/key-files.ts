import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { withKeyLock } from './key-lock';
import { createOnce } from './ticket-files';

/**
 * Creates a file of secrets unless it exists. Of several instances that start together exactly one creates it. Returns
 * whether this call did.
 */
export function makeSecretFileOnce(path: string, content: () => string): boolean {
  if (existsSync(path)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return createOnce(path, content(), 0o600);
}

/**
 * Creates a directory of secrets unless `holdsSome` finds any in it. Fills a new directory under a temporary name and
 * renames it. An existing directory may be the root of a volume: it keeps its owner and other contents.
 */
export async function makeSecretDirectoryOnce(
  path: string,
  holdsSome: (path: string) => Promise<boolean>,
  files: () => Promise<Readonly<Record<string, string>>>,
): Promise<boolean> {
  if (existsSync(path) && (await holdsSome(path))) return false;
  // May take seconds, so it runs before the lock is taken.
  const contents = await files();
  if (!existsSync(path) && renameIn(path, contents)) return true;
  return withKeyLock(path, async () => {
    if (await holdsSome(path)) return false;
    for (const [name, content] of Object.entries(contents)) makeSecretFileOnce(join(path, name), () => content);
    return true;
  });
}

/** Returns false when another process was first. */
function renameIn(path: string, contents: Readonly<Record<string, string>>): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  mkdirSync(draft, { mode: 0o700 });
  try {
    for (const [name, content] of Object.entries(contents)) {
      writeFileSync(join(draft, name), content, { mode: 0o600 });
    }
    renameSync(draft, path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
