import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type QueryResultRow } from 'pg';
import { openEmbeddedPostgres } from '../../libs/local-postgres/src/embedded-postgres';
import { locateCluster } from '../../libs/local-postgres/src/cluster/cluster-location';
import { startServer, stopServer } from '../../libs/local-postgres/src/cluster/postgres-server';
import { findPostmaster } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { findServiceAccount, isRoot } from '../../libs/local-postgres/src/accounts/service-account';
import { clear, faultOf, makeDirectory, query } from '../support/embedded-postgres-directory';
import { EmbeddedPostgresProcess } from '../support/embedded-postgres-process';

/** Shell programs whose output is the pid for a stale file. The last part keeps running. */
const NAMED: Readonly<Record<string, string>> = {
  'a dead process': 'sh -c "echo \\$\\$"; exec sleep 60',
  'another program': 'echo $$; exec sleep 60',
  'another program in the directory of the data': 'cd "$1"; echo $$; exec sleep 60',
  // A program that replaced the shell does not wait for its children.
  'a killed process that nobody reaped': 'sleep 60 & echo $!; kill -9 $!; exec sleep 60',
};

describe('Embedded Postgres', () => {
  let localDir: string;
  let dataDir: string;

  // One database for the whole file, because creating one takes longest. Every test ends with its server stopped.
  beforeAll(() => {
    localDir = makeDirectory();
    dataDir = join(localDir, 'postgres');
  });
  afterEach(async () => {
    await EmbeddedPostgresProcess.killAll();
    const left = findPostmaster(dataDir);
    await stopServer(dataDir, 'immediate');
    expect(left).toBeNull();
  });
  afterAll(() => clear(localDir));

  it('is created with an unprivileged owner and a runtime role without rights', async () => {
    const postgres = await openEmbeddedPostgres({ localDir });
    const roles = (url: string): Promise<QueryResultRow[]> =>
      query(
        url,
        `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication,
                pg_get_userbyid(datdba) AS owner
           FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
      );
    const nothing = {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolbypassrls: false,
      rolreplication: false,
    };
    expect(await roles(postgres.migrationDatabaseUrl)).toEqual([
      { rolname: 'compliance_owner', owner: 'compliance_owner', ...nothing },
    ]);
    expect(await roles(postgres.databaseUrl)).toEqual([
      { rolname: 'compliance_api', owner: 'compliance_owner', ...nothing },
    ]);
    await query(postgres.migrationDatabaseUrl, 'CREATE TABLE kept (word text); INSERT INTO kept VALUES ($$before$$)');
    await expect(query(postgres.databaseUrl, 'CREATE TABLE mine (word text)')).rejects.toThrow('permission denied');
    await expect(query(postgres.databaseUrl, 'SELECT * FROM kept')).rejects.toThrow('permission denied');
    await postgres.close();
    await postgres.close();
  });

  it('hides passwords and log from other users, listens on loopback only and syncs writes', async () => {
    const postgres = await openEmbeddedPostgres({ localDir });
    expect(statSync(join(dataDir, 'compliance-passwords.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(localDir, 'postgres.log')).mode & 0o777).toBe(0o600);
    const settings = `SELECT current_setting('listen_addresses') AS address, current_setting('fsync') AS fsync,
      current_setting('server_encoding') AS encoding`;
    expect(await query(postgres.databaseUrl, settings)).toEqual([
      { address: '127.0.0.1', fsync: 'on', encoding: 'UTF8' },
    ]);
    expect(existsSync(join(tmpdir(), `.s.PGSQL.${new URL(postgres.databaseUrl).port}`))).toBe(false);
    await postgres.close();
  });

  it('is shared by two clients in one process', async () => {
    const [first, second] = await Promise.all([openEmbeddedPostgres({ localDir }), openEmbeddedPostgres({ localDir })]);
    expect(second.databaseUrl).toBe(first.databaseUrl);
    await first.close();
    expect(await query(second.migrationDatabaseUrl, 'SELECT word FROM kept')).toEqual([{ word: 'before' }]);
    await second.close();
  });

  it('is shared by processes, and the last one stops it', async () => {
    const processes = [1, 2, 3].map(() => new EmbeddedPostgresProcess(localDir));
    const urls = await Promise.all(processes.map((one) => one.opened()));
    expect(new Set(urls.map((one) => one.databaseUrl)).size).toBe(1);
    const [first, second, third] = processes;
    await Promise.all([first?.close(), second?.close()]);
    expect(await query(urls[0]?.databaseUrl ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await third?.close();
  });

  it('survives a killed process, and the next one takes it over and stops it', async () => {
    const killed = new EmbeddedPostgresProcess(localDir);
    const urls = await killed.opened();
    await killed.kill();
    const server = findPostmaster(dataDir);
    expect(await query(urls.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const next = await openEmbeddedPostgres({ localDir });
    expect(next.databaseUrl).toBe(urls.databaseUrl);
    expect(findPostmaster(dataDir)?.pid).toBe(server?.pid);
    await next.close();
  });

  it('returns on the same address with its data after the server was killed', async () => {
    const user = new EmbeddedPostgresProcess(localDir);
    const urls = await user.opened();
    const before = findPostmaster(dataDir);
    process.kill(before?.pid ?? 0, 'SIGKILL');
    const next = await openEmbeddedPostgres({ localDir });
    expect(next.databaseUrl).toBe(urls.databaseUrl);
    expect(findPostmaster(dataDir)?.pid).not.toBe(before?.pid);
    expect(await query(next.migrationDatabaseUrl, 'SELECT word FROM kept')).toEqual([{ word: 'before' }]);
    await next.close();
    expect(findPostmaster(dataDir)).not.toBeNull();
    await user.close();
  });

  it('waits for the port of a killed server', async () => {
    const user = new EmbeddedPostgresProcess(localDir);
    const urls = await user.opened();
    process.kill(findPostmaster(dataDir)?.pid ?? 0, 'SIGKILL');
    const holder = await holdPort(Number(new URL(urls.databaseUrl).port));
    setTimeout(() => holder.close(), 1_000);
    const next = await openEmbeddedPostgres({ localDir });
    expect(next.databaseUrl).toBe(urls.databaseUrl);
    await next.close();
    await user.close();
  });

  it.each(Object.keys(NAMED))('starts despite a stale postmaster.pid that names %s', async (named) => {
    const postgres = await openEmbeddedPostgres({ localDir });
    const [, ...rest] = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    await postgres.close();
    const { pid, end } = await startNamed(dataDir, named);
    const owner = statSync(dataDir);
    writeFileSync(join(dataDir, 'postmaster.pid'), [pid, ...rest].join('\n'), { mode: 0o600 });
    chownSync(join(dataDir, 'postmaster.pid'), owner.uid, owner.gid);

    const since = Date.now();
    const next = await openEmbeddedPostgres({ localDir });

    expect(Date.now() - since).toBeLessThan(30_000);
    expect(await query(next.migrationDatabaseUrl, 'SELECT word FROM kept')).toEqual([{ word: 'before' }]);
    await next.close();
    expect(end()).toBe(true);
  });

  it('names the process that holds the data, and leaves it alone', async () => {
    const postgres = await openEmbeddedPostgres({ localDir });
    const holder = findPostmaster(dataDir);
    const location = locateCluster(localDir, () => undefined);

    const second = startServer(location, { logFile: join(localDir, 'second.log') });

    await expect(second).rejects.toThrow(
      new RegExp(`did not start: process ${holder?.pid} \\(.*postgres -D ${dataDir} .*\\) holds ${dataDir}`),
    );
    expect(findPostmaster(dataDir)).toEqual(holder);
    expect(await query(postgres.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await postgres.close();
  });

  it('shows the end of the log when the server does not start', async () => {
    const configuration = join(dataDir, 'postgresql.conf');
    const before = readFileSync(configuration);
    appendFileSync(configuration, "\nshared_buffers = 'plenty'\n");
    const { message } = await faultOf(localDir);
    writeFileSync(configuration, before);
    expect(message).toMatch(/did not start[^]*invalid value for parameter "shared_buffers"[^]*postgres\.log/);
  });

  it('refuses data of another major version and names the remedy', async () => {
    const version = join(dataDir, 'PG_VERSION');
    const before = readFileSync(version);
    writeFileSync(version, '13\n');
    const { message } = await faultOf(localDir);
    writeFileSync(version, before);
    expect(message).toMatch(/made by Postgres 13.*set DATABASE_URL/);
  });
});

/** Postgres ignores processes of other users, so these run as Postgres' user. `end` tells whether the last one lived. */
async function startNamed(dataDir: string, named: string): Promise<{ pid: string; end: () => boolean }> {
  const account = isRoot() ? findServiceAccount() : {};
  const other = spawn('sh', ['-c', NAMED[named] ?? '', 'sh', dataDir], {
    ...account,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(other.stdout, 'data')) as [Buffer];
  return { pid: output.toString().trim(), end: () => other.exitCode === null && other.kill('SIGKILL') };
}

/** Listens on the port as soon as it is free. */
async function holdPort(port: number): Promise<Server> {
  for (; ; await sleep(2)) {
    const server = createServer();
    const held = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (held) return server;
  }
}
