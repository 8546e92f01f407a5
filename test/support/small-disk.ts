import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { type TemporaryPostgres } from './temporary-postgres';
import { Cleanup } from './cleanup.cjs';

const SIZE_BYTES = 64 * 1024 * 1024;
const UNMOUNT_AND_REMOVE = 'umount -l "$1"; rmdir "$1"';

/** Where the tables of a Postgres of a test's own are, and room can run out. */
export abstract class SmallDisk {
  /** Before anything of the database is made. */
  static async under(postgres: TemporaryPostgres): Promise<SmallDisk> {
    const directory = mkdtempSync(join(dirname(postgres.directory), 'compliance-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_BYTES},mode=711`, 'tmpfs', directory]);
    if (mounted.status === 0) return MountedDisk.with(postgres, directory);
    rmSync(directory, { recursive: true });
    return new PretendedDisk(postgres);
  }

  /** What it is, for whoever reads what a run did. */
  abstract readonly kind: string;
  /** Takes all the room that is left. */
  abstract fill(): Promise<void>;
  abstract empty(): Promise<void>;
  /** After Postgres has been stopped. */
  abstract remove(): Promise<void>;
}

/** A file system of its own in memory, with the database's tablespace on it. */
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
    // Postgres may have taken some of it meanwhile, or be about to: what does not fit is not written.
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

/** Where nothing may be mounted: Postgres says what it says of a full disk, to every new audit event and every new token. */
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
    // Nothing was put anywhere.
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
