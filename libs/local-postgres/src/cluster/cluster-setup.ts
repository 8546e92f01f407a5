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
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ClusterLocation } from './cluster-location';
import { makePasswords, passwordFile, rolesAndDatabaseSql, SUPERUSER } from './cluster-roles';
import { runProgram } from '../processes/run-program';
import { type ServiceAccount } from '../accounts/service-account';

/**
 * Creates a cluster with its roles and database. Builds it under another name without a server (Postgres' single-user
 * mode), flushes it to disk once, and renames it. So a killed set-up leaves nothing that looks finished. Requires the
 * lock, which makes it safe to remove earlier attempts.
 */
export async function setUpCluster(
  { dataDir, binaries, account }: ClusterLocation,
  options: { ownerMayCreateDatabases: boolean; durable: boolean },
): Promise<void> {
  await removeAbandoned(dataDir);
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

/** Collates by code points, with Unicode's upper and lower case: the same on every system. */
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

async function removeAbandoned(dataDir: string): Promise<void> {
  const prefix = `${basename(dataDir)}.new-`;
  for (const name of readdirSync(dirname(dataDir))) {
    // Retried, because an initdb that outlived its launcher may still be writing. rmSync of Node 24 does not retry.
    const options = { recursive: true, force: true, maxRetries: 8 };
    if (name.startsWith(prefix)) await rm(join(dirname(dataDir), name), options);
  }
}

/** Creates the file exclusively. In another account's directory a prepared link must not redirect root. */
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
