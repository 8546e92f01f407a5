import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Urls {
  readonly migrationDatabaseUrl: string;
  readonly databaseUrl: string;
}

interface Told {
  readonly said?: string;
  readonly opened?: Urls;
  readonly fault?: { name: string; message: string };
}

/** Another process that opens the embedded Postgres. */
export class EmbeddedPostgresProcess {
  private static readonly running = new Set<EmbeddedPostgresProcess>();

  /** Call it after each test: processes left by a failed test would keep jest waiting. */
  static async killAll(): Promise<void> {
    await Promise.all([...EmbeddedPostgresProcess.running].map((one) => one.kill()));
  }

  readonly said: string[] = [];
  private readonly child: ChildProcess;
  private readonly exit: Promise<unknown>;
  private readonly told: Told[] = [];
  private wake: () => void = () => undefined;

  constructor(localDir: string) {
    const programArguments = [
      '-r',
      join(__dirname, 'typescript-register.cjs'),
      join(__dirname, 'embedded-postgres-user.ts'),
    ];
    this.child = spawn(process.execPath, [...programArguments, localDir], { stdio: ['pipe', 'pipe', 'inherit'] });
    EmbeddedPostgresProcess.running.add(this);
    this.exit = once(this.child, 'close').finally(() => {
      EmbeddedPostgresProcess.running.delete(this);
      this.wake();
    });
    if (this.child.stdout === null) throw new Error('no output to read');
    createInterface(this.child.stdout).on('line', (line) => {
      const told = JSON.parse(line) as Told;
      if (told.said !== undefined) this.said.push(told.said);
      this.told.push(told);
      this.wake();
    });
  }

  async opened(): Promise<Urls> {
    const told = await this.first((one) => one.opened !== undefined || one.fault !== undefined);
    if (told.opened === undefined) throw new Error(told.fault?.message);
    return told.opened;
  }

  /** Lets the process close the database and end. */
  async close(): Promise<void> {
    this.child.stdin?.end();
    await this.exit;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exit;
  }

  private async first(wanted: (told: Told) => boolean): Promise<Told> {
    for (;;) {
      const found = this.told.find(wanted);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error('the process ended before');
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
