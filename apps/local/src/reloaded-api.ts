import { setTimeout as delay } from 'node:timers/promises';
import { ApiProcess } from './api-process';
import type { ServedApi } from './served-api';

export interface Sources {
  /** Calls back after each change of a source file. */
  watch(onChange: () => void): void;
  /** Compiles what changed, and returns whether anything did. @throws an error that says where the code is wrong */
  build(): boolean;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts a new process of the API after each change. The old one has ended by then, so its port is free. */
export class ReloadedApi implements ServedApi {
  readonly gone: Promise<void>;
  private child: ApiProcess;
  private environment: NodeJS.ProcessEnv | null = null;
  private origin: string | null = null;
  private isStopped = false;
  private isReplacing = false;
  private end: () => void = () => undefined;
  /** Reloads run one after the other. */
  private reloaded = Promise.resolve();

  constructor(
    private readonly sources: Sources,
    private readonly nodeOptions: readonly string[],
  ) {
    this.gone = new Promise((resolve) => (this.end = resolve));
    this.child = this.start();
    sources.watch(() => {
      this.reloaded = this.reloaded.then(() => this.reload());
    });
  }

  serve(environment: NodeJS.ProcessEnv): void {
    this.environment = environment;
    this.child.serve(environment);
  }

  async responses(origin: string): Promise<boolean> {
    this.origin = origin;
    while (!this.isStopped) {
      if (await this.child.responses(origin)) return true;
      await delay(100);
    }
    return false;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.end();
    await this.reloaded;
    await this.child.stop();
  }

  private start(): ApiProcess {
    const child = new ApiProcess(this.nodeOptions);
    void child.gone.then(() => {
      if (!this.isReplacing && !this.isStopped) say('The API ended by itself. Save a file to start it again.');
    });
    if (this.environment !== null) child.serve(this.environment);
    return child;
  }

  private async reload(): Promise<void> {
    if (this.isStopped) return;
    try {
      if (!this.sources.build()) return;
    } catch (error) {
      say(`Not reloaded: ${(error as Error).message}`);
      return;
    }
    say('Reloading…');
    const since = performance.now();
    const old = this.child;
    this.isReplacing = true;
    await old.stop();
    this.isReplacing = false;
    if (this.isStopped) return;
    this.child = this.start();
    if (this.origin === null) return;
    // The next reload does not wait for a process that never responds.
    void this.child.responses(this.origin).then((responds) => {
      if (responds) say(`Reloaded in ${((performance.now() - since) / 1000).toFixed(1)} s.`);
    });
  }
}
