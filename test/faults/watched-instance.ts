import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port';
import { type FaultSetting } from './fault-setting';
import { type Instance } from './instance';

/** Resources of a process after a garbage collection. Memory is in bytes. */
export interface Holding {
  /** The heap and its external memory. */
  readonly used: number;
  readonly rss: number;
  /** Listeners on `process` itself. */
  readonly listeners: number;
  readonly sockets: number;
  /** For example about too many listeners of one emitter. */
  readonly warnings: number;
}

/** An instance that reports its resources. */
export class WatchedInstance {
  private constructor(
    private readonly instance: Instance,
    private readonly reportFile: string,
    private readonly management: string,
  ) {}

  static async start(setting: FaultSetting, particulars: Readonly<Record<string, string>>): Promise<WatchedInstance> {
    const managementPort = String(await freePort());
    const reportFile = setting.file(`memory-${managementPort}.ndjson`);
    const [instance] = await setting.startInstances({
      ...particulars,
      MANAGEMENT_PORT: managementPort,
      NODE_OPTIONS: `--require ${join(__dirname, '../support/memory-report.cjs')}`,
      MEMORY_REPORT_FILE: reportFile,
    });
    return new WatchedInstance(instance as Instance, reportFile, `http://127.0.0.1:${managementPort}`);
  }

  async holding(): Promise<Holding> {
    const before = this.reports().length;
    this.instance.signal('SIGUSR2');
    for (const deadline = Date.now() + 20_000; this.reports().length === before; await delay(20)) {
      if (Date.now() > deadline) throw new Error('the instance does not tell what it holds');
    }
    return JSON.parse(this.reports().at(-1) as string) as Holding;
  }

  /** Returns one sample of its metrics, by name and labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.management}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    if (line === undefined) throw new Error(`no ${name}`);
    return Number(line.slice(name.length));
  }

  private reports(): string[] {
    if (!existsSync(this.reportFile)) return [];
    return readFileSync(this.reportFile, 'utf8').split('\n').slice(0, -1);
  }
}
