import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { clusterUrls, readPasswords } from '../../libs/local-postgres/src/cluster/cluster-roles';
import { findBinaries } from '../../libs/local-postgres/src/postgres-binaries';
import { startServer, stopServer } from '../../libs/local-postgres/src/cluster/postgres-server';
import { findServiceAccount, isRoot } from '../../libs/local-postgres/src/accounts/service-account';
import { reachableBinaries } from '../../libs/local-postgres/src/accounts/substitute-directory';
import { type TemporaryPostgres } from './temporary-postgres';

/** A server that runs on a restored backup. */
export interface RestoredPostgres {
  readonly superuserUrl: string;
  readonly migrationDatabaseUrl: string;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

/** The write-ahead log covers files that vanish during the copy. */
const GONE_MEANWHILE = /No such file or directory|file vanished/;

/**
 * Backs up a running server as docs/operations.md describes: all files between pg_backup_start and pg_backup_stop, the
 * `backup_label` of the latter, and the write-ahead log of that time. Returns the directory.
 */
export async function takeBackup(postgres: TemporaryPostgres): Promise<string> {
  const backup = mkdtempSync(join(dirname(postgres.dataDir), 'backup-'));
  const account = isRoot() ? findServiceAccount() : null;
  const session = new Client({ connectionString: postgres.superuserUrl });
  await session.connect();
  try {
    await session.query(`SELECT pg_backup_start('backup', fast => true)`);
    copy(`${postgres.dataDir}/.`, backup);
    const { rows } = await session.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    const label = join(backup, 'backup_label');
    writeFileSync(label, rows[0]?.labelfile ?? '', { mode: 0o600 });
    if (account) chownSync(label, account.uid, account.gid);
    copy(`${postgres.dataDir}/pg_wal/.`, join(backup, 'pg_wal'));
  } finally {
    await session.end();
  }
  for (const name of ['postmaster.pid', 'postmaster.opts']) spawnSync('rm', ['-f', join(backup, name)]);
  return backup;
}

/** Starts a server on a backup. Its roles have the passwords of the original server. */
export async function startRestored(backup: string): Promise<RestoredPostgres> {
  const account = isRoot() ? findServiceAccount() : null;
  const binaries = reachableBinaries(findBinaries(), account, join(dirname(backup), 'binaries'));
  const { port } = await startServer({ dataDir: backup, binaries, account }, { logFile: `${backup}.log` });
  return { ...clusterUrls(readPasswords(backup), port), stop: () => stopServer(backup, 'fast') };
}

function copy(from: string, to: string): void {
  const { stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  const faults = stderr.split('\n').filter((line) => line !== '' && !GONE_MEANWHILE.test(line));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
