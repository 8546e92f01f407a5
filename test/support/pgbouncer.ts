/** @needs pgbouncer */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launchOptions } from '../../libs/local-postgres/src/processes/run-program';
import { findServiceAccount, isRoot } from '../../libs/local-postgres/src/accounts/service-account';
import { freePort } from './free-port';
import { demandProgram } from './programs.cjs';

/** Tells whether PgBouncer supports prepared statements, as it does since 1.21. */
export function keepsPreparedStatements(program: string): boolean {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 21);
}

/** PgBouncer in transaction mode in front of a Postgres, with fewer connections than clients want. */
export class PgBouncer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    private readonly port: number,
  ) {}

  static async before(databaseUrl: string, program = demandProgram('pgbouncer')): Promise<PgBouncer> {
    const { hostname, port: postgresPort, username, password } = new URL(databaseUrl);
    const account = isRoot() ? findServiceAccount() : null;
    const directory = mkdtempSync(join(realpathSync(tmpdir()), 'pgbouncer-'));
    chmodSync(directory, 0o700);
    const port = await freePort();
    const files = {
      'users.txt': `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`,
      'pgbouncer.ini': [
        '[databases]',
        `* = host=${hostname} port=${postgresPort}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = scram-sha-256',
        `auth_file = ${join(directory, 'users.txt')}`,
        'pool_mode = transaction',
        'default_pool_size = 3',
        'ignore_startup_parameters = options',
        ...(keepsPreparedStatements(program) ? ['max_prepared_statements = 200'] : []),
        '',
      ].join('\n'),
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content, { mode: 0o600 });
    if (account) {
      for (const name of ['', ...Object.keys(files)]) chownSync(join(directory, name), account.uid, account.gid);
    }
    const options = { ...launchOptions(account), stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'] };
    const child = spawn(program, [join(directory, 'pgbouncer.ini')], options);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    for (const deadline = Date.now() + 60_000; !said.includes('process up'); await delay(20)) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`PgBouncer did not start: ${said}`);
    }
    return new PgBouncer(child, directory, port);
  }

  /** Rewrites a database URL to lead through PgBouncer. */
  url(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.toString();
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      const gone = once(this.process, 'exit');
      this.process.kill('SIGQUIT');
      await gone;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}
