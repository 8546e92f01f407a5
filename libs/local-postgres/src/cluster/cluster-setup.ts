import {
  chownSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ClusterLocation } from './cluster-location';
import { makePasswords, passwordFile, rolesAndDatabaseSql, SUPERUSER } from './cluster-roles';
import { runProgram } from '../processes/run-program';
import { type ServiceAccount } from '../accounts/service-account';

/**
 * Makes a new cluster with its roles and database. It is built under another name, without a server (Postgres'
 * single-user mode), written to disk once at the end and then renamed: a set-up killed half way leaves nothing that looks
 * finished. Called under the lock, so what an earlier attempt left can be cleared away.
 */
export async function setUpCluster(
  { dataDir, binaries, account }: ClusterLocation,
  options: { ownerMayCreateDatabases: boolean; durable: boolean },
): Promise<void> {
  removeAbandoned(dataDir);
  const workshop = mkdtempSync(`${dataDir}.new-`);
  const draft = join(workshop, 'data');
  try {
    give(workshop, account);
    const passwords = makePasswords();
    const superuserPasswordFile = join(workshop, 'password');
    writePrivate(superuserPasswordFile, passwords.superuser, account);
    await runProgram({
      program: binaries.initdb,
      programArguments: [...initdbArguments(draft), `--pwfile=${superuserPasswordFile}`],
      account,
    });
    await runProgram({
      program: binaries.postgres,
      programArguments: ['--single', '-D', draft, '-c', 'exit_on_error=on', '-c', 'fsync=off', 'postgres'],
      account,
      input: rolesAndDatabaseSql(passwords, options),
    });
    writePrivate(passwordFile(draft), JSON.stringify(passwords), account);
    if (options.durable) {
      await runProgram({ program: binaries.initdb, programArguments: ['--sync-only', '-D', draft], account });
    }
    renameSync(draft, dataDir);
    if (options.durable) syncDirectory(dirname(dataDir));
  } finally {
    rmSync(workshop, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Collation by code points with Unicode's upper and lower case, the same on every system. */
function initdbArguments(dataDir: string): string[] {
  return [
    '-D',
    dataDir,
    `--username=${SUPERUSER}`,
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--auth=scram-sha-256',
    '--no-instructions',
    '--no-sync',
  ];
}

function removeAbandoned(dataDir: string): void {
  const prefix = `${basename(dataDir)}.new-`;
  for (const name of readdirSync(dirname(dataDir))) {
    // Retried, as an initdb that outlived its launcher may still be writing there.
    if (name.startsWith(prefix)) rmSync(join(dirname(dataDir), name), { recursive: true, force: true, maxRetries: 8 });
  }
}

/** Made anew and exclusively: in a directory of another account, a link laid in wait must not lead root astray. */
function writePrivate(file: string, content: string, account: ServiceAccount | null): void {
  writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
  give(file, account);
}

function give(path: string, account: ServiceAccount | null): void {
  if (account !== null) chownSync(path, account.uid, account.gid);
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
