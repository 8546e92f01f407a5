import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServedApi } from './served-api';

/** Maximum wait for requests in flight before the API is killed. */
const STOP_MS = 5_000;

/** A path of each program that responds once it serves. */
const LIVE_PATHS = { api: '/v1/health', console: '/sign-in' } as const;

/**
 * Runs the API, or the console, in a process of its own. It loads its code at once and serves once it receives its settings. It has its
 * own session, so Ctrl-C reaches it only through us and things stop in order. When we die, it ends by itself.
 */
export class ApiProcess implements ServedApi {
  private readonly child: ChildProcess;
  /** Resolves once the process has ended. */
  readonly gone: Promise<void>;
  private isGone = false;

  constructor(
    nodeOptions: readonly string[] = [],
    private readonly program: keyof typeof LIVE_PATHS = 'api',
  ) {
    const child = join(__dirname, 'api-child.js');
    this.child = spawn(process.execPath, [...process.execArgv, ...nodeOptions, child, program], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.gone = once(this.child, 'exit').then(
      () => undefined,
      () => undefined,
    );
    void this.gone.then(() => (this.isGone = true));
    this.child.on('error', () => (this.isGone = true));
  }

  serve(environment: NodeJS.ProcessEnv): void {
    if (!this.isGone) this.child.send({ environment }, () => undefined);
  }

  async responses(origin: string): Promise<boolean> {
    const url = `${origin}${LIVE_PATHS[this.program]}`;
    while (!this.isGone) {
      const status = await statusOf(url).catch(() => null);
      if (status !== null && status >= 500) process.stdout.write(`${url} responds with ${status}.\n`);
      if (status !== null) return true;
      await Promise.race([delay(20), this.gone]);
    }
    return false;
  }

  async stop(): Promise<void> {
    if (this.isGone) return;
    this.child.kill('SIGINT');
    const late = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
    await this.gone;
    clearTimeout(late);
  }
}

async function statusOf(url: string): Promise<number> {
  const { status, body } = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await body?.cancel();
  return status;
}
