import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';

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

/** The same for a directory of secrets, which is filled beside its place and renamed in. */
export async function makeSecretDirectoryOnce(
  path: string,
  files: () => Promise<Readonly<Record<string, string>>>,
): Promise<boolean> {
  if (existsSync(path) && readdirSync(path).some((name) => !name.startsWith('.'))) return false;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  mkdirSync(draft, { mode: 0o700 });
  try {
    for (const [name, content] of Object.entries(await files())) {
      writeFileSync(join(draft, name), content, { mode: 0o600 });
    }
    renameSync(draft, path);
    chmodSync(path, 0o700);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
