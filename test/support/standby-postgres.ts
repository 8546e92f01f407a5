import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { type ClusterLocation } from '../../libs/local-postgres/src/cluster/cluster-location';
import { clusterUrls, readPasswords } from '../../libs/local-postgres/src/cluster/cluster-roles';
import { startServer, stopServer } from '../../libs/local-postgres/src/cluster/postgres-server';
import { freePort } from './free-port';
import { killServer } from './postgres-processes';
import { FAST_SETTINGS, type TemporaryPostgres } from './temporary-postgres';

/** Where a standby streams from: the primary itself, or a proxy before it. */
interface Source {
  readonly host: string;
  readonly port: number;
}

/** Not part of a copy: what is the running server's own. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts', 'standby.signal'];

/** A hot standby that streams from a temporary Postgres: same roles, same passwords, a port of its own. */
export class StandbyPostgres {
  private constructor(
    private readonly location: ClusterLocation,
    private readonly start: { readonly logFile: string; readonly settings: Readonly<Record<string, string>> },
    readonly port: number,
  ) {}

  /** A copy of the primary as it is now. `name` is what it calls itself by towards the primary. */
  static async of(primary: TemporaryPostgres, name: string, source?: Source): Promise<StandbyPostgres> {
    const directory = mkdtempSync(join(primary.directory, 'standby-'));
    const location = { ...primary.location, dataDir: join(directory, 'data') };
    const { account } = location;
    if (account) chownSync(directory, account.uid, account.gid);
    await copyCluster(primary, location);
    const { host, port } = source ?? { host: '127.0.0.1', port: primary.port };
    const { superuser } = readPasswords(primary.dataDir);
    const conninfo = `host=${host} port=${port} user=postgres password=${superuser} application_name=${name}`;
    const settings = { ...FAST_SETTINGS, primary_conninfo: conninfo, wal_retrieve_retry_interval: '100ms' };
    const start = { logFile: join(directory, 'log'), settings };
    const server = await startServer(location, { ...start, preferredPort: await freePort() });
    return new StandbyPostgres(location, start, server.port);
  }

  get urls(): ReturnType<typeof clusterUrls> {
    return clusterUrls(readPasswords(this.location.dataDir), this.port);
  }

  /** One of a primary's URLs, led here. */
  url(primaryUrl: string): string {
    const url = new URL(primaryUrl);
    url.port = String(this.port);
    return url.toString();
  }

  /** Stops applying what the primary sends, or goes on with it. */
  async pauseReplay(): Promise<void> {
    await this.query('SELECT pg_wal_replay_pause()');
    // A request at first: what is being applied is applied to its end.
    while ((await this.query('SELECT pg_get_wal_replay_pause_state() AS state')) !== 'paused') await delay(5);
  }

  async resumeReplay(): Promise<void> {
    await this.query('SELECT pg_wal_replay_resume()');
  }

  /** Resolves when it has applied all that the primary has written by now. */
  async caughtUp(primary: TemporaryPostgres): Promise<void> {
    // Something committed behind it all: of the rest Postgres may not have sent the end.
    await valueAt(primary.superuserUrl, 'SELECT txid_current()');
    const written = await valueAt(primary.superuserUrl, 'SELECT pg_current_wal_insert_lsn()');
    for (const deadline = Date.now() + 60_000; ; await delay(10)) {
      const reached = await this.query(`SELECT (pg_last_wal_replay_lsn() >= '${written}'::pg_lsn)::text`);
      if (reached === 'true') return;
      if (Date.now() > deadline) throw new Error(`the standby does not reach ${written}`);
    }
  }

  /** Makes it the primary. */
  async promote(): Promise<void> {
    if ((await this.query('SELECT pg_promote(true, 30)::text')) !== 'true') throw new Error('not promoted');
  }

  /** SIGKILL to all of its processes. */
  kill(): void {
    killServer(this.location.dataDir);
  }

  /** On the same port and data. */
  async startAgain(): Promise<void> {
    const again = await startServer(this.location, { ...this.start, preferredPort: this.port });
    if (again.port !== this.port) throw new Error(`port ${this.port} was taken while the standby was down`);
  }

  async stop(): Promise<void> {
    await stopServer(this.location.dataDir, 'immediate').catch(() => undefined);
  }

  private query(sql: string): Promise<string> {
    return valueAt(this.urls.superuserUrl, sql);
  }
}

/** As pg_basebackup does it, which the embedded Postgres lacks: the files of the running primary, and a label. */
async function copyCluster(primary: TemporaryPostgres, { dataDir, account }: ClusterLocation): Promise<void> {
  const session = new Client({ connectionString: primary.superuserUrl });
  await session.connect();
  try {
    await session.query(`SELECT pg_backup_start('standby', fast => true)`);
    const copied = spawnSync('cp', ['-a', primary.dataDir, dataDir], { encoding: 'utf8' });
    const others = copied.stderr.split('\n').filter((line) => line !== '' && !/No such file or directory/.test(line));
    if (others.length > 0 || !existsSync(dataDir)) throw new Error(`the copy failed: ${copied.stderr}`);
    const { rows } = await session.query<{ label: string }>('SELECT labelfile AS label FROM pg_backup_stop(false)');
    const files = { backup_label: rows[0]?.label ?? '', 'standby.signal': '' };
    for (const name of NOT_COPIED) rmSync(join(dataDir, name), { force: true });
    // The primary sends all that is needed; what was copied while it was being written may be torn.
    const logs = join(dataDir, 'pg_wal');
    for (const name of readdirSync(logs)) if (/^[0-9A-F]{24}/.test(name)) rmSync(join(logs, name));
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(dataDir, name), content, { mode: 0o600 });
      if (account) chownSync(join(dataDir, name), account.uid, account.gid);
    }
  } finally {
    await session.end();
  }
}

async function valueAt(url: string, sql: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, string>>(sql);
    return String(Object.values(rows[0] ?? {})[0]);
  } finally {
    await client.end();
  }
}
