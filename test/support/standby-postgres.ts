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

/** The server that a standby streams from: the primary, or a proxy before it. */
interface Source {
  readonly host: string;
  readonly port: number;
}

/** Files of the running server that a copy must omit. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts', 'standby.signal'];

/** A hot standby that streams from a temporary Postgres, with the same roles and passwords and its own port. */
export class StandbyPostgres {
  private constructor(
    private readonly location: ClusterLocation,
    private readonly start: { readonly logFile: string; readonly settings: Readonly<Record<string, string>> },
    readonly port: number,
  ) {}

  /** Creates a copy of the primary. `name` identifies it to the primary. */
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

  /** Rewrites one of the primary's URLs to lead to this standby. */
  url(primaryUrl: string): string {
    const url = new URL(primaryUrl);
    url.port = String(this.port);
    return url.toString();
  }

  /** Pauses replay of the primary's changes. */
  async pauseReplay(): Promise<void> {
    await this.query('SELECT pg_wal_replay_pause()');
    // The pause takes effect only after the current change.
    while ((await this.query('SELECT pg_get_wal_replay_pause_state() AS state')) !== 'paused') await delay(5);
  }

  async resumeReplay(): Promise<void> {
    await this.query('SELECT pg_wal_replay_resume()');
  }

  /** Resolves when it has applied everything that the primary has written so far. */
  async caughtUp(primary: TemporaryPostgres): Promise<void> {
    // A further commit makes Postgres send the end of earlier changes, too.
    await valueAt(primary.superuserUrl, 'SELECT txid_current()');
    const written = await valueAt(primary.superuserUrl, 'SELECT pg_current_wal_insert_lsn()');
    for (const deadline = Date.now() + 60_000; ; await delay(10)) {
      const reached = await this.query(`SELECT (pg_last_wal_replay_lsn() >= '${written}'::pg_lsn)::text`);
      if (reached === 'true') return;
      if (Date.now() > deadline) throw new Error(`the standby does not reach ${written}`);
    }
  }

  /** Promotes it to primary. */
  async promote(): Promise<void> {
    if ((await this.query('SELECT pg_promote(true, 30)::text')) !== 'true') throw new Error('not promoted');
  }

  /** Kills all of its processes by SIGKILL. */
  kill(): void {
    killServer(this.location.dataDir);
  }

  /** Restarts it with the same port and data. */
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

/** Copies the files of the running primary, with a label, like pg_basebackup, which the embedded Postgres lacks. */
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
    // The primary sends all needed log files. Copies made during a write may be incomplete.
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
