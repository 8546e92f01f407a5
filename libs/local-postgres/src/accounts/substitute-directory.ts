import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresFault } from '../embedded-postgres-fault';
import { binariesIn, type PostgresBinaries } from '../postgres-binaries';
import { canReach, type ServiceAccount } from './service-account';

/**
 * A directory outside `localDir`, for data that root must place where the service account can reach it. Each `localDir`
 * has its own.
 */
export function substituteDirectoryOf(localDir: string): string {
  return `/var/tmp/compliance-api-${createHash('sha256').update(localDir).digest('hex').slice(0, 12)}`;
}

/**
 * Anyone may create names in /var/tmp. So the directory is accepted only if it is real, ours, and not writable by
 * others; otherwise its creator would own our database.
 */
export function makeSubstituteDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o711 });
    chmodSync(directory, 0o711);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!isOursAlone(lstatSync(directory))) {
    throw new EmbeddedPostgresFault(
      `${directory} was not made by this program: it is not a directory of this user that only this user may write to. ` +
        `Look at what it is and remove it, or set LOCAL_DIR to a directory that the user "postgres" can reach.`,
    );
  }
}

function isOursAlone(stats: Stats): boolean {
  return stats.isDirectory() && stats.uid === process.geteuid?.() && (stats.mode & 0o022) === 0;
}

/** Returns the installed binaries, or a copy below `directory` when the account cannot reach them. */
export function reachableBinaries(
  binaries: PostgresBinaries,
  account: ServiceAccount | null,
  directory: string,
): PostgresBinaries {
  if (account === null) return binaries;
  const needed = [binaries.postgres, join(binaries.directory, 'lib'), join(binaries.directory, 'share')];
  if (needed.every((path) => canReach(path, account))) return binaries;
  makeSubstituteDirectory(directory);
  const copy = join(directory, `postgres-${binaries.version}-${process.arch}`);
  if (!existsSync(copy)) copyReadable(binaries.directory, copy);
  return binariesIn(copy, binaries.version);
}

function copyReadable(from: string, to: string): void {
  const draft = `${to}.new-${randomBytes(6).toString('hex')}`;
  try {
    cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    openForReading(draft);
    renameSync(draft, to);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function openForReading(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  chmodSync(path, stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (stats.isDirectory()) for (const name of readdirSync(path)) openForReading(join(path, name));
}

/** Gives a directory tree to the account, such as one that root has copied. Does not follow links. */
export function giveTo(account: ServiceAccount, path: string): void {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveTo(account, join(path, name));
  lchownSync(path, account.uid, account.gid);
}
