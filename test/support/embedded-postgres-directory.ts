import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { openEmbeddedPostgres } from '../../libs/local-postgres/src/embedded-postgres';
import { EmbeddedPostgresFault } from '../../libs/local-postgres/src/embedded-postgres-fault';
import { stopServer } from '../../libs/local-postgres/src/cluster/postgres-server';
import { substituteDirectoryOf } from '../../libs/local-postgres/src/accounts/substitute-directory';
import { Cleanup } from './cleanup.cjs';

export async function query<Row extends QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, ssl: false });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const END_SERVER_AND_REMOVE_DATA = `
  for directory in "$1" "$2"; do
    for file in "$directory/postmaster.pid" "$directory"/*/postmaster.pid "$directory"/*/*/postmaster.pid; do
      if read -r pid <"$file"; then kill -QUIT "$pid"; sleep 0.5; fi
    done
  done
  rm -rf "$1" "$2"`;

/**
 * Creates a directory that Postgres' own account can reach, unlike root's temporary directories. A server left in it
 * ends with the test file.
 */
export function makeDirectory(mode = 0o711): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-postgres-')));
  chmodSync(directory, mode);
  new Cleanup(END_SERVER_AND_REMOVE_DATA, directory, substituteDirectoryOf(directory));
  return directory;
}

export async function clear(directory: string): Promise<void> {
  const away = substituteDirectoryOf(directory);
  for (const dataDir of [join(directory, 'postgres'), join(away, 'postgres')]) {
    if (existsSync(dataDir)) await stopServer(dataDir, 'immediate');
  }
  rmSync(directory, { recursive: true, force: true });
  rmSync(away, { recursive: true, force: true });
}

export async function faultOf(localDir: string): Promise<EmbeddedPostgresFault> {
  const outcome: unknown = await openEmbeddedPostgres({ localDir }).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(EmbeddedPostgresFault);
  return outcome as EmbeddedPostgresFault;
}
