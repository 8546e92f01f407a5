import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { packedStart } from './module-pack/module-pack';

const ROOT = join(__dirname, '../..');

export interface FinishedCommand {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one of our commands like a script: without a terminal and with the given environment only. Runs it from dist,
 * which it builds.
 */
export class RunningCommand {
  private static readonly running = new Set<RunningCommand>();

  /** Call it after each test, because a failed test must not leave processes behind. */
  static async killAll(): Promise<void> {
    await Promise.all([...RunningCommand.running].map((one) => one.signal('SIGKILL').then(() => one.finished)));
  }

  stdout = '';
  stderr = '';
  readonly finished: Promise<FinishedCommand>;
  readonly pid: number;
  private readonly child: ChildProcess;

  constructor(program: string, words: readonly string[], environment: Readonly<Record<string, string>>, input = '') {
    const packed = packedStart();
    this.child = spawn(process.execPath, [...packed.words, resolve(ROOT, program), ...words], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
        ...packed.environment,
        ...environment,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.pid = this.child.pid ?? 0;
    this.child.stdin?.on('error', () => undefined).end(input);
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    RunningCommand.running.add(this);
    this.finished = once(this.child, 'close').then(([code]) => {
      RunningCommand.running.delete(this);
      return { exitCode: code as number | null, stdout: this.stdout, stderr: this.stderr };
    });
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await Promise.resolve();
  }

  /** Resolves once stdout contains the text. @throws the output when the command ends before */
  async said(text: string): Promise<void> {
    while (!this.stdout.includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(this.stdout + this.stderr);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
