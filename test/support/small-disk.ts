import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { type TemporaryPostgres } from './temporary-postgres';
import { Cleanup } from './cleanup.cjs';

const SIZE_BYTES = 64 * 1024 * 1024;
const UNMOUNT_AND_REMOVE = 'umount -l "$1"; rmdir "$1"';

/** The disk of a test's own Postgres tables, which can run full. */
export abstract class SmallDisk {
  /** Call it before the database is created. */
  static async under(postgres: TemporaryPostgres): Promise<SmallDisk> {
    const directory = mkdtempSync(join(dirname(postgres.directory), 'compliance-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_BYTES},mode=711`, 'tmpfs', directory]);
    if (mounted.status === 0) return MountedDisk.with(postgres, directory);
    rmSync(directory, { recursive: true });
    return new PretendedDisk(postgres);
  }

  /** The kind of disk, for the test's output. */
  abstract readonly kind: string;
  /** Fills the disk. */
  abstract fill(): Promise<void>;
  abstract empty(): Promise<void>;
  /** Call it after Postgres was stopped. */
  abstract remove(): Promise<void>;
}

/** A file system in memory that holds the database's tablespace. */
class MountedDisk extends SmallDisk {
  readonly kind = 'mounted';

  static async with(postgres: TemporaryPostgres, directory: string): Promise<MountedDisk> {
    const cleanup = new Cleanup(UNMOUNT_AND_REMOVE, directory);
    try {
      const tablespace = join(directory, 'tablespace');
      mkdirSync(tablespace, { mode: 0o700 });
      const { account } = postgres.location;
      if (account) chownSync(tablespace, account.uid, account.gid);
      const database = new URL(postgres.databaseUrl).pathname.slice(1);
      await atServer(postgres, `CREATE TABLESPACE small LOCATION '${tablespace}'`);
      await atServer(postgres, `ALTER DATABASE ${database} SET TABLESPACE small`);
      return new MountedDisk(directory, cleanup);
    } catch (error) {
      await cleanup.run();
      throw error;
    }
  }

  private constructor(
    private readonly directory: string,
    private readonly cleanup: Cleanup,
  ) {
    super();
  }

  async fill(): Promise<void> {
    const { bavail, bsize } = statfsSync(this.directory);
    // Postgres may use space at the same time, so the file need not fit.
    try {
      writeFileSync(this.ballast, Buffer.alloc(bavail * bsize));
      writeFileSync(`${this.ballast}-more`, Buffer.alloc(SIZE_BYTES));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  async empty(): Promise<void> {
    for (const name of [this.ballast, `${this.ballast}-more`]) rmSync(name, { force: true });
  }

  async remove(): Promise<void> {
    await this.cleanup.run();
  }

  private get ballast(): string {
    return join(this.directory, 'ballast');
  }
}

/**
 * Simulates a full disk where mounting is impossible: Postgres refuses every new audit event and token as on a full
 * disk.
 */
class PretendedDisk extends SmallDisk {
  readonly kind = 'pretended';

  constructor(private readonly postgres: TemporaryPostgres) {
    super();
  }

  async fill(): Promise<void> {
    await this.atDatabase(`
      CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
      END $$;
      CREATE TRIGGER no_space BEFORE INSERT ON audit_event EXECUTE FUNCTION no_space();
      CREATE TRIGGER no_space BEFORE UPDATE ON application EXECUTE FUNCTION no_space()`);
  }

  async empty(): Promise<void> {
    await this.atDatabase('DROP FUNCTION IF EXISTS no_space CASCADE');
  }

  async remove(): Promise<void> {
    // Nothing to remove.
  }

  private async atDatabase(sql: string): Promise<void> {
    const url = new URL(this.postgres.superuserUrl);
    url.pathname = new URL(this.postgres.databaseUrl).pathname;
    await at(url.href, sql);
  }
}

const atServer = ({ superuserUrl }: TemporaryPostgres, sql: string): Promise<void> => at(superuserUrl, sql);

async function at(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
