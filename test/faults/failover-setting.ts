import { Client } from 'pg';
import { killServer } from '../support/postgres-processes';
import { RunningCommand } from '../support/running-command';
import { StandbyPostgres } from '../support/standby-postgres';
import { TcpProxy } from '../support/tcp-proxy';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';
import { FaultSetting } from './fault-setting';
import { sized } from './sizes';

/** A primary with one standby. The API uses an address that leads to the current primary. */
export class FailoverSetting {
  private constructor(
    readonly faults: FaultSetting,
    private readonly primary: TemporaryPostgres,
    private readonly standby: StandbyPostgres,
    /** Between the API and the primary. */
    private readonly address: TcpProxy,
    /** Between the primary and the standby. */
    private readonly stream: TcpProxy,
  ) {}

  static async open(kind: 'synchronous' | 'asynchronous'): Promise<FailoverSetting> {
    const primary = await startTemporaryPostgres({ postgresSettings: { synchronous_commit: 'on' } });
    const address = await TcpProxy.to('127.0.0.1', primary.port);
    const stream = await TcpProxy.to('127.0.0.1', primary.port);
    const through = (url: string): string => url.replace(`:${primary.port}/`, `:${address.port}/`);
    const faults = await FaultSetting.open({
      postgres: {
        ...primary,
        superuserUrl: through(primary.superuserUrl),
        migrationDatabaseUrl: through(primary.migrationDatabaseUrl),
        databaseUrl: through(primary.databaseUrl),
      },
    });
    const standby = await StandbyPostgres.of(primary, 'standby', { host: '127.0.0.1', port: stream.port });
    if (kind === 'synchronous') await makeSynchronous(primary);
    const setting = new FailoverSetting(faults, primary, standby, address, stream);
    await faults.startInstances(...Array.from({ length: sized({ short: 1, long: 2 }) }, () => ({})));
    return setting;
  }

  async standbyHasAll(): Promise<void> {
    await this.standby.caughtUp(this.primary);
  }

  /** Stops replication to the standby. */
  async holdBack(): Promise<void> {
    await this.stream.set('blackhole');
  }

  /** Kills the primary by SIGKILL, promotes the standby and redirects the address to it. */
  async failOver(): Promise<void> {
    killServer(this.primary.dataDir);
    await this.stream.set('refuse');
    await this.standby.promote();
    this.address.leadTo('127.0.0.1', this.standby.port);
  }

  /** Redirects the address to the standby before its promotion, once it is up to date. */
  async leadToStandby(): Promise<void> {
    await this.address.set('refuse');
    await this.standbyHasAll();
    this.address.leadTo('127.0.0.1', this.standby.port);
    await this.address.set('forward');
  }

  async promote(): Promise<void> {
    await this.standby.promote();
  }

  /** Returns the output of `admin status --deep` and `admin audit verify`. @throws when they fail */
  async askOperator(): Promise<unknown[]> {
    return Promise.all([this.admin('status', '--deep', '--json'), this.admin('audit', 'verify', '--json')]);
  }

  async close(): Promise<void> {
    await this.standby.stop();
    await this.faults.close();
    await this.address.close();
    await this.stream.close();
  }

  private async admin(...words: string[]): Promise<unknown> {
    const { databaseUrl, migrationDatabaseUrl } = this.faults.databases;
    const LOCAL_DIR = process.env['TEST_LOCAL_DIR'] as string;
    const environment = { DATABASE_URL: databaseUrl, MIGRATION_DATABASE_URL: migrationDatabaseUrl, LOCAL_DIR };
    const finished = await new RunningCommand('apps/admin/run.mjs', words, environment).finished;
    if (finished.exitCode !== 0) throw new Error(`admin ${words.join(' ')}: ${JSON.stringify(finished)}`);
    return JSON.parse(finished.stdout);
  }
}

async function makeSynchronous(primary: TemporaryPostgres): Promise<void> {
  const client = new Client({ connectionString: primary.superuserUrl });
  await client.connect();
  await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
  await client.query('SELECT pg_reload_conf()');
  const isSynchronous = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`;
  for (const deadline = Date.now() + 60_000; (await client.query(isSynchronous)).rowCount !== 1;) {
    if (Date.now() > deadline) throw new Error('the standby does not become synchronous');
  }
  await client.end();
}
