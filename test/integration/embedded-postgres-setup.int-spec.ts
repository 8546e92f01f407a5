import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbeddedPostgres } from '../../libs/local-postgres/src/embedded-postgres';
import { findPostmaster } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { isRoot } from '../../libs/local-postgres/src/accounts/service-account';
import { substituteDirectoryOf } from '../../libs/local-postgres/src/accounts/substitute-directory';
import { clear, faultOf, makeDirectory, query } from '../support/embedded-postgres-directory';
import { EmbeddedPostgresProcess } from '../support/embedded-postgres-process';

describe('Embedded Postgres in a fresh directory', () => {
  let directory: string;
  afterEach(async () => {
    await EmbeddedPostgresProcess.killAll();
    await clear(directory);
  });

  it('is created once when several processes open it together', async () => {
    directory = makeDirectory();
    const processes = [1, 2, 3, 4, 5].map(() => new EmbeddedPostgresProcess(directory));
    const urls = await Promise.all(processes.map((one) => one.opened()));
    expect(new Set(urls.map((one) => one.migrationDatabaseUrl)).size).toBe(1);
    expect(processes.flatMap((one) => one.said.filter((line) => line.startsWith('Making a database')))).toHaveLength(1);
    await Promise.all(processes.map((one) => one.close()));
    expect(findPostmaster(join(directory, 'postgres'))).toBeNull();
  });

  it('is created again after an interrupted setup', async () => {
    directory = makeDirectory();
    const killed = new EmbeddedPostgresProcess(directory);
    // The files look like a database once it contains a database beyond Postgres' own three (1, 4, 5).
    const begun = (): boolean =>
      readdirSync(directory, { recursive: true }).some((name) => /\/base\/[0-9]{2,}$/.test(String(name)));
    while (!begun()) await sleep(5);
    await killed.kill();
    expect(existsSync(join(directory, 'postgres'))).toBe(false);
    const postgres = await openEmbeddedPostgres({ localDir: directory });
    expect(await query(postgres.databaseUrl, 'SELECT current_user AS role')).toEqual([{ role: 'compliance_api' }]);
    expect(readdirSync(directory).sort()).toEqual(['postgres', 'postgres-lock', 'postgres-users', 'postgres.log']);
    await postgres.close();
  });

  it('leaves a folder that only looks like a database as it is, and names it', async () => {
    directory = makeDirectory();
    const lookalike = join(directory, 'postgres');
    mkdirSync(join(lookalike, 'base'), { recursive: true });

    expect((await faultOf(directory)).message).toContain(lookalike);

    expect(readdirSync(lookalike)).toEqual(['base']);
    expect(readdirSync(directory).filter((name) => name.includes('.new-'))).toEqual([]);
  });

  it('refuses a folder without write permission and names the remedy', async () => {
    directory = makeDirectory();
    writeFileSync(join(directory, 'file'), '');
    expect((await faultOf(join(directory, 'file'))).message).toMatch(/file.*set LOCAL_DIR.*set DATABASE_URL/);
    expect((await faultOf(join(directory, 'file', 'below'))).message).toMatch(/ENOTDIR.*set LOCAL_DIR/);
    // Permissions do not stop root.
    if (!isRoot()) {
      chmodSync(directory, 0o555);
      expect((await faultOf(join(directory, 'new'))).message).toMatch(/EACCES.*set LOCAL_DIR/);
      chmodSync(directory, 0o755);
    }
  });

  it('works below a private directory, for root in /var/tmp with a message', async () => {
    directory = makeDirectory(0o700);
    const said: string[] = [];
    const postgres = await openEmbeddedPostgres({ localDir: directory, say: (line) => said.push(line) });
    expect(await query(postgres.databaseUrl, 'SELECT current_user AS role')).toEqual([{ role: 'compliance_api' }]);
    const dataDir = isRoot() ? join(substituteDirectoryOf(directory), 'postgres') : join(directory, 'postgres');
    expect(existsSync(dataDir)).toBe(true);
    expect(said.filter((line) => line.includes('/var/tmp/compliance-api-'))).toHaveLength(isRoot() ? 2 : 0);
    await postgres.close();
    expect(findPostmaster(dataDir)).toBeNull();
  });

  it('refuses a directory in /var/tmp that somebody else may write to', async () => {
    directory = makeDirectory(0o700);
    mkdirSync(substituteDirectoryOf(directory));
    chmodSync(substituteDirectoryOf(directory), 0o777);
    if (isRoot()) {
      expect((await faultOf(directory)).message).toMatch(/was not made by this program/);
    } else {
      await (await openEmbeddedPostgres({ localDir: directory })).close();
      expect(readdirSync(substituteDirectoryOf(directory))).toEqual([]);
    }
  });
});
