import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../support/free-port';
import { memoryOf } from '../accounting';
import { builtFile } from '../built-program';

const LOOK_EVERY_MS = 20;
const BOOTS_WITHIN_MS = 60_000;

/** The programs, with the names of their ports' settings. */
const PROGRAMS = {
  api: { port: 'PORT', managementPort: 'MANAGEMENT_PORT' },
  console: { port: 'CONSOLE_PORT', managementPort: 'CONSOLE_MANAGEMENT_PORT' },
} as const;

/** Runs the built API or console as operators do. */
export class Instance {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    /** From launch until it is ready. */
    readonly bootSeconds: number,
  ) {}

  static async start(
    environment: Readonly<Record<string, string>>,
    program: keyof typeof PROGRAMS = 'api',
  ): Promise<Instance> {
    const [port, managementPort] = [await freePort(), await freePort()];
    const since = performance.now();
    const child = spawn(process.execPath, [builtFile(`apps/${program}/src/main.ts`)], {
      env: {
        PATH: process.env['PATH'],
        ...environment,
        [PROGRAMS[program].port]: String(port),
        [PROGRAMS[program].managementPort]: String(managementPort),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    try {
      await ready(child, managementPort, since);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    return new Instance(child, port, (performance.now() - since) / 1_000);
  }

  /** In bytes. NaN when the system does not report it. */
  get residentMemory(): number {
    return memoryOf(this.child.pid ?? 0)?.resident ?? Number.NaN;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

async function ready(child: ChildProcess, managementPort: number, since: number): Promise<void> {
  for (; ; await delay(LOOK_EVERY_MS)) {
    if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode} before it was ready.`);
    if (performance.now() - since > BOOTS_WITHIN_MS) throw new Error('The program does not become ready.');
    const response = await fetch(`http://127.0.0.1:${managementPort}/readyz`).catch(() => null);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
  }
}
