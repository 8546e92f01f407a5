import { existsSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { withKeyLock } from './key-lock';

/**
 * Makes a file of secrets unless it is there, so that of several processes that start at once exactly one makes it and
 * all use the same: it is written beside its place and linked in, which fails when another was first.
 * Returns whether this call made it.
 */
export function makeSecretFileOnce(path: string, content: () => string): boolean {
  if (existsSync(path)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  writeFileSync(draft, content(), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * The same for a directory of secrets: `holdsSome` tells whether any are in it. A new directory is filled beside its place
 * and renamed in. One that is there stays, with its owner and whatever else is in it: it may be the root of a volume.
 */
export async function makeSecretDirectoryOnce(
  path: string,
  holdsSome: (path: string) => Promise<boolean>,
  files: () => Promise<Readonly<Record<string, string>>>,
): Promise<boolean> {
  if (existsSync(path) && (await holdsSome(path))) return false;
  // May take seconds: before others are kept waiting.
  const contents = await files();
  if (!existsSync(path) && renameIn(path, contents)) return true;
  return withKeyLock(path, async () => {
    if (await holdsSome(path)) return false;
    for (const [name, content] of Object.entries(contents)) makeSecretFileOnce(join(path, name), () => content);
    return true;
  });
}

/** False where another was first. */
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
