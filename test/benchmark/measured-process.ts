import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { memoryOf } from './accounting';

export type ChildMessage = { readonly port: number } | { readonly cpuUsage: NodeJS.CpuUsage };

/** Runs in the child: reports its port, and its CPU time on request. Calls `end` when the parent is gone. */
export function tellMeasurements(port: number, end: () => void = () => process.exit(0)): void {
  const tell = (message: ChildMessage): void => void process.send?.(message);
  process.on('message', () => tell({ cpuUsage: process.cpuUsage() }));
  process.on('disconnect', end);
  tell({ port });
}

/** A server in a process of its own, so that its CPU time is separate from the client's. */
export class MeasuredProcess {
  private static readonly running = new Set<MeasuredProcess>();

  /** Stops processes that a failure left behind. */
  static async stopAll(): Promise<void> {
    await Promise.all([...MeasuredProcess.running].map((one) => one.stop()));
  }

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  /** `file` is a program of this folder that calls {@link tellMeasurements} or behaves like it. */
  static async start(
    file: string,
    environment: Readonly<Record<string, string>>,
    ...words: readonly string[]
  ): Promise<MeasuredProcess> {
    const child = fork(join(__dirname, file), words, {
      env: { PATH: process.env['PATH'], ...environment },
      // Only TypeScript needs the TypeScript loader.
      execArgv: file.endsWith('.ts') ? process.execArgv : [],
      // The log is written as in production, but to a place that costs no disk writes.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const { port } = await told(child, 'port');
    const server = new MeasuredProcess(child, port);
    MeasuredProcess.running.add(server);
    return server;
  }

  /** Returns the CPU milliseconds since the process began. */
  async cpuMilliseconds(): Promise<number> {
    this.child.send('cpu');
    const { cpuUsage } = await told(this.child, 'cpuUsage');
    return (cpuUsage.user + cpuUsage.system) / 1000;
  }

  /** Returns the resident memory in bytes. NaN without /proc. */
  residentBytes(): number {
    return memoryOf(this.child.pid ?? 0)?.resident ?? Number.NaN;
  }

  async stop(): Promise<void> {
    MeasuredProcess.running.delete(this);
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.disconnect();
    await gone;
  }
}

/** Returns the child's next message. @throws when it ends instead */
async function told<Member extends 'port' | 'cpuUsage'>(
  child: ChildProcess,
  member: Member,
): Promise<Extract<ChildMessage, Record<Member, unknown>>> {
  const ended = new AbortController();
  const exit = once(child, 'exit', { signal: ended.signal }).then(
    () => Promise.reject(new Error('The server ended.')),
    () => new Promise<never>(() => undefined),
  );
  try {
    const [message] = (await Promise.race([once(child, 'message'), exit])) as [ChildMessage];
    if (!(member in message)) throw new Error(`It said ${JSON.stringify(message)}.`);
    return message as Extract<ChildMessage, Record<Member, unknown>>;
  } finally {
    ended.abort();
  }
}
