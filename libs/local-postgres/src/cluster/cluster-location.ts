import { existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresFault, OWN_DATABASE_ADVICE } from '../embedded-postgres-fault';
import { findBinaries, type PostgresBinaries } from '../postgres-binaries';
import { accountOwning, canReach, findServiceAccount, isRoot, type ServiceAccount } from '../accounts/service-account';
import {
  giveTo,
  makeSubstituteDirectory,
  reachableBinaries,
  substituteDirectoryOf,
} from '../accounts/substitute-directory';

/** The place of the database and the account that runs it. */
export interface ClusterLocation {
  readonly dataDir: string;
  readonly binaries: PostgresBinaries;
  /** Null when we are an ordinary user. Postgres then runs as the same user. */
  readonly account: ServiceAccount | null;
}

/** `localDir` is a real path that exists. */
export function locateCluster(localDir: string, say: (line: string) => void): ClusterLocation {
  const installed = findBinaries();
  const { dataDir, account } = isRoot() ? locateDataAsRoot(localDir, say) : locateDataAsUser(localDir);
  const binaries = reachableBinaries(installed, account, substituteDirectoryOf(localDir));
  if (isCluster(dataDir)) checkVersion(dataDir, binaries);
  return { dataDir, binaries, account };
}

/**
 * Tells whether a complete cluster exists there. Set-up renames a finished cluster into place, so an unfinished one
 * never has this name.
 */
export function isCluster(dataDir: string): boolean {
  return existsSync(join(dataDir, 'PG_VERSION')) && existsSync(join(dataDir, 'global', 'pg_control'));
}

function locateDataAsUser(localDir: string): { dataDir: string; account: null } {
  const dataDir = join(localDir, 'postgres');
  const owner = lstatSync(dataDir, { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === process.geteuid?.()) return { dataDir, account: null };
  throw new EmbeddedPostgresFault(
    `The database in ${dataDir} belongs to another user (uid ${owner}), probably because root started it first. ` +
      `Start as that user again, give it to this one (stop it, then as root: chown -R ${process.geteuid?.()} ${localDir}), ` +
      `or set LOCAL_DIR to another directory.`,
  );
}

function locateDataAsRoot(localDir: string, say: (line: string) => void): { dataDir: string; account: ServiceAccount } {
  const local = join(localDir, 'postgres');
  const away = join(substituteDirectoryOf(localDir), 'postgres');
  if (isCluster(local)) return { dataDir: local, account: takeUpLocal(localDir, local) };
  const account = findServiceAccount();
  const reachable = canReach(localDir, account);
  // Data that was once placed elsewhere stays there, even if the local directory is reachable now.
  if (!isCluster(away) && reachable) return { dataDir: local, account };
  makeSubstituteDirectory(substituteDirectoryOf(localDir));
  const reason = reachable
    ? `The user "${account.name}", who runs Postgres for root, could not reach ${localDir} when the database was made`
    : `Postgres does not run as root, and the user "${account.name}" that runs it instead cannot reach ${localDir}`;
  say(
    `${reason}: the database is kept in ${away}. Some systems clear old files out of /var/tmp; to keep data for long, ` +
      `set LOCAL_DIR to a directory outside of private ones such as /root.`,
  );
  return { dataDir: away, account: isCluster(away) ? ownerOf(away, account) : account };
}

/** Runs an ordinary user's database as that user, so that both can continue to use it. */
function takeUpLocal(localDir: string, dataDir: string): ServiceAccount {
  const account = ownerOf(dataDir, null);
  if (canReach(localDir, account)) return account;
  throw new EmbeddedPostgresFault(
    `The database in ${dataDir} belongs to the user "${account.name}", who can no longer reach it below ${localDir}. ` +
      `Let that user pass through the directories above it (chmod o+x), move ${localDir} elsewhere and set LOCAL_DIR, ${OWN_DATABASE_ADVICE}.`,
  );
}

function ownerOf(dataDir: string, fallback: ServiceAccount | null): ServiceAccount {
  const stats = statSync(dataDir);
  if (stats.uid !== 0) return accountOwning(stats);
  const account = fallback ?? findServiceAccount();
  giveTo(account, dataDir);
  return account;
}

function checkVersion(dataDir: string, binaries: PostgresBinaries): void {
  const found = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  if (found === binaries.majorVersion) return;
  throw new EmbeddedPostgresFault(
    `The database in ${dataDir} was made by Postgres ${found}, but the installed binaries are Postgres ${binaries.majorVersion}, which cannot open it. ` +
      `Install the release of this program that made it, move the directory aside to begin with an empty database, ${OWN_DATABASE_ADVICE}.`,
  );
}

/** Creates the local directory and checks that it is writable. */
export function makeLocalDirectory(localDir: string): void {
  mkdirSync(localDir, { recursive: true });
  const stats = statSync(localDir);
  if (!stats.isDirectory()) throw Object.assign(new Error(`${localDir} is not a directory`), { code: 'ENOTDIR' });
}
