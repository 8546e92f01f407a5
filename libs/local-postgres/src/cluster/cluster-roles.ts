import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgresFault } from '../embedded-postgres-fault';

export const SUPERUSER = 'postgres';
export const DATABASE = 'compliance';
const OWNER = 'compliance_owner';
const RUNTIME = 'compliance_api';
const CONSOLE = 'compliance_console';

export interface RolePasswords {
  readonly superuser: string;
  readonly owner: string;
  readonly runtime: string;
  readonly console: string;
}

/** Hexadecimal, so that the password needs no quoting in SQL or in a URL. */
const newPassword = (): string => randomBytes(24).toString('hex');

export function makePasswords(): RolePasswords {
  return { superuser: newPassword(), owner: newPassword(), runtime: newPassword(), console: newPassword() };
}

/**
 * The passwords are stored inside the data directory (mode 0600 in a directory of mode 0700), so they always move and
 * vanish with their database.
 */
export function passwordFile(dataDir: string): string {
  return join(dataDir, 'compliance-passwords.json');
}

export function readPasswords(dataDir: string): RolePasswords {
  try {
    const found = JSON.parse(readFileSync(passwordFile(dataDir), 'utf8')) as Partial<RolePasswords>;
    const { superuser, owner, runtime } = found;
    // A cluster of an earlier release has no role of the console: its opener adds one.
    if (superuser && owner && runtime) return { superuser, owner, runtime, console: found.console ?? '' };
    throw new Error('it is not complete');
  } catch (cause) {
    throw new EmbeddedPostgresFault(
      `The passwords of the embedded database cannot be read from ${passwordFile(dataDir)} (${(cause as Error).message}). ` +
        `Restore that file, or move ${dataDir} aside to begin with an empty database.`,
      { cause },
    );
  }
}

/**
 * Returns one statement per line. The owner is no superuser, and the runtime role owns nothing. From Postgres 15 on,
 * the runtime role thus cannot create tables.
 */
export function rolesAndDatabaseSql(passwords: RolePasswords, options: { ownerMayCreateDatabases: boolean }): string {
  const createDatabases = options.ownerMayCreateDatabases ? 'CREATEDB' : 'NOCREATEDB';
  return [
    `CREATE ROLE ${OWNER} LOGIN ${createDatabases} PASSWORD '${passwords.owner}'`,
    `CREATE ROLE ${RUNTIME} LOGIN PASSWORD '${passwords.runtime}'`,
    consoleRoleSql(passwords),
    `CREATE DATABASE ${DATABASE} OWNER ${OWNER}`,
    '',
  ].join('\n');
}

const consoleRoleSql = (passwords: RolePasswords): string =>
  `CREATE ROLE ${CONSOLE} LOGIN PASSWORD '${passwords.console}'`;

/** Adds the role of the console to a cluster that was made before there was one. */
export async function addConsoleRole(dataDir: string, passwords: RolePasswords, port: number): Promise<RolePasswords> {
  const complete = { ...passwords, console: newPassword() };
  const client = new Client({ connectionString: clusterUrls(passwords, port).superuserUrl, ssl: false });
  await client.connect();
  try {
    await client.query(`DROP ROLE IF EXISTS ${CONSOLE}`);
    await client.query(consoleRoleSql(complete));
  } finally {
    await client.end();
  }
  const { uid, gid } = statSync(passwordFile(dataDir));
  const draft = `${passwordFile(dataDir)}.new`;
  writeFileSync(draft, JSON.stringify(complete), { mode: 0o600 });
  chownSync(draft, uid, gid);
  renameSync(draft, passwordFile(dataDir));
  return complete;
}

export interface ClusterUrls {
  readonly superuserUrl: string;
  readonly migrationDatabaseUrl: string;
  readonly databaseUrl: string;
  readonly consoleDatabaseUrl: string;
}

export function clusterUrls(passwords: RolePasswords, port: number): ClusterUrls {
  const url = (role: string, password: string, database: string): string =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
  return {
    superuserUrl: url(SUPERUSER, passwords.superuser, 'postgres'),
    migrationDatabaseUrl: url(OWNER, passwords.owner, DATABASE),
    databaseUrl: url(RUNTIME, passwords.runtime, DATABASE),
    consoleDatabaseUrl: url(CONSOLE, passwords.console, DATABASE),
  };
}
