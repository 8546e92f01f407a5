import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { findPostmaster } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { stopServer } from '../../libs/local-postgres/src/cluster/postgres-server';
import { type TemporaryPostgres } from './temporary-postgres';
import { Cleanup } from './cleanup.cjs';

const SIZE_BYTES = 160 * 1024 * 1024;
const UNMOUNT_AND_REMOVE = 'umount -l "$1"; rmdir "$1"';

/**
 * Makes Postgres keep few files of its write-ahead log, so it soon needs another. Acknowledged commits are in these
 * files.
 */
export const SMALL_LOG = { synchronous_commit: 'on', min_wal_size: '32MB', max_wal_size: '48MB' };

/**
 * The disk of a Postgres' write-ahead log, which can run full: Postgres then stops and cannot start until there is
 * space. If mounting is impossible, Postgres is stopped instead.
 */
export class LogDisk {
  static async under(postgres: TemporaryPostgres): Promise<LogDisk> {
    const directory = mkdtempSync(join(dirname(postgres.directory), 'compliance-log-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_BYTES},mode=711`, 'tmpfs', directory]);
    if (mounted.status !== 0) {
      rmSync(directory, { recursive: true });
      return new LogDisk(postgres, null, null);
    }
    const cleanup = new Cleanup(UNMOUNT_AND_REMOVE, directory);
    try {
      await stopServer(postgres.dataDir, 'fast');
      const log = join(directory, 'log');
      const former = join(postgres.dataDir, 'pg_wal');
      mkdirSync(log, { mode: 0o700 });
      cpSync(former, log, { recursive: true });
      rmSync(former, { recursive: true });
      symlinkSync(log, former);
      const { account } = postgres.location;
      if (account) spawnSync('chown', ['-R', `${account.uid}:${account.gid}`, log]);
      await postgres.restart('fast');
      return new LogDisk(postgres, directory, cleanup);
    } catch (error) {
      await cleanup.run();
      throw error;
    }
  }

  private constructor(
    private readonly postgres: TemporaryPostgres,
    private readonly directory: string | null,
    private readonly cleanup: Cleanup | null,
  ) {}

  /** The kind of disk, for the test's output. */
  get kind(): string {
    return this.directory === null ? 'pretended' : 'mounted';
  }

  /** Fills the disk and writes until Postgres fails. */
  async fill(): Promise<void> {
    if (this.directory === null) return stopServer(this.postgres.dataDir, 'immediate');
    const { bavail, bsize } = statfsSync(this.directory);
    try {
      writeFileSync(this.ballast, Buffer.alloc(bavail * bsize));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
    await this.writeOn();
  }

  /** Frees space and restarts Postgres if it has stopped, as a supervisor would. */
  async empty(): Promise<void> {
    if (this.directory !== null) rmSync(this.ballast, { force: true });
    if (findPostmaster(this.postgres.dataDir) === null) await this.postgres.restart('immediate');
  }

  /** Call it after Postgres was stopped. */
  async remove(): Promise<void> {
    await this.cleanup?.run();
  }

  private async writeOn(): Promise<void> {
    const client = new Client({ connectionString: this.postgres.superuserUrl });
    client.on('error', () => undefined);
    await client.connect();
    const messages = `DO $$ BEGIN
      LOOP
        PERFORM pg_logical_emit_message(true, 'ballast', repeat('x', 1000000));
        COMMIT;
      END LOOP;
    END $$`;
    await client.query(messages).catch(() => undefined);
    await client.end().catch(() => undefined);
    const said = readFileSync(join(this.postgres.directory, 'log'), 'utf8');
    if (!/PANIC: .*No space left on device/.test(said)) throw new Error(`Postgres has not run out of room: ${said}`);
  }

  private get ballast(): string {
    return join(this.directory ?? '', 'ballast');
  }
}
