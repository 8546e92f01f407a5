import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packedStart } from './module-pack/module-pack';

const ROOT = join(__dirname, '../..');

/** Runs the built API, or the console, in a process of its own, configured by its environment, as an operator does. */
export class ApiProcess {
  private static readonly running = new Set<ApiProcess>();

  static async killAll(): Promise<void> {
    await Promise.all([...ApiProcess.running].map((one) => one.kill()));
  }

  output = '';
  errors = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;

  /** `output`: a descriptor for the log instead of {@link output}. */
  constructor(
    environment: Readonly<Record<string, string>>,
    output: number | 'pipe' = 'pipe',
    program: 'api' | 'console' = 'api',
  ) {
    const packed = packedStart();
    this.child = spawn(process.execPath, [...packed.words, join(ROOT, `dist/apps/${program}/src/main.js`)], {
      env: { PATH: process.env['PATH'], ...packed.environment, ...environment },
      stdio: ['ignore', output, 'pipe'],
    });
    ApiProcess.running.add(this);
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = once(this.child, 'close').then(([code]) => {
      ApiProcess.running.delete(this);
      return code as number | null;
    });
  }

  /** Resolves once the instance serves. @throws its output when it ends before */
  async serving(): Promise<void> {
    while (!this.output.includes('"message":"serving"')) {
      const { exitCode, signalCode } = this.child;
      if (exitCode !== null || signalCode !== null) throw new Error(signalCode ?? (this.errors || this.output));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  get pid(): number {
    return this.child.pid as number;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async exitCode(): Promise<number | null> {
    return this.ended;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
