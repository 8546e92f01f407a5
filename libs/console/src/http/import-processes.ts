import { type ChildProcess, fork } from 'node:child_process';
import { on } from 'node:events';
import { dirname, join } from 'node:path';
import { Injectable, PayloadTooLargeException, ServiceUnavailableException } from '@nestjs/common';
import type { PersonAuthor } from '#libs/audit/operators';
import type { ImportOptions, ImportProgress, ImportReport } from '#libs/inventory/operators';
import type { WorkspaceId } from '#libs/kernel';
import { Settings } from '#libs/platform/config';

const PROGRAM = join(dirname(require.resolve('#package')), 'dist/apps/console/src/import-process.js');
/** Memory of one import. What an operator sets comes after it, and counts. */
const LIMITS = '--max-old-space-size=256 --max-semi-space-size=16';

/** With the name of a ready map. */
export type UploadOptions = Omit<ImportOptions, 'files' | 'dryRun' | 'map'> & { readonly map: string | null };

export interface ImportOrder {
  readonly author: PersonAuthor;
  readonly workspaceId: WorkspaceId;
  readonly path: string;
  readonly failedRecords: string;
  readonly options: UploadOptions;
  readonly dryRun: boolean;
}

/** How an import ended that the console's own faults did not end. */
export type ImportEnd = { readonly report: ImportReport } | { readonly refusal: string; readonly mayRepeat: boolean };

export type ImportNews = Partial<{ progress: ImportProgress; failedKept: number; end: ImportEnd; error: unknown }>;

/**
 * Runs imports in processes: pages wait for none of them, and one that needs too much memory ends alone. A thread ends the
 * whole process where one large object does not fit.
 */
@Injectable()
export class ImportProcesses {
  private readonly processes = new Set<ChildProcess>();
  private readonly idle = new Set<ChildProcess>();

  constructor(private readonly settings: Settings) {}

  /** @throws the error of an import that failed, 413 when it needs too much memory, and 503 when the console stops */
  async run(order: ImportOrder, onNews: (news: ImportNews) => void): Promise<ImportEnd> {
    const [child = this.begin()] = this.idle;
    this.idle.delete(child);
    child.send([order, { ...this.settings }]);
    for await (const [news] of on(child, 'message', { close: ['exit'] }) as AsyncIterable<[ImportNews]>) {
      if ('error' in news) throw news.error;
      if (!news.end) onNews(news);
      else {
        this.idle.add(child);
        return news.end;
      }
    }
    const { exitCode, signalCode } = child;
    if (signalCode === 'SIGTERM') throw new ServiceUnavailableException('The console stopped.');
    // Node ends a process so that needs more memory, and the system one for which there is none.
    if (signalCode === 'SIGABRT' || signalCode === 'SIGKILL')
      throw new PayloadTooLargeException('The import needs more memory than it gets.');
    throw new Error(`The process of an import ended with ${exitCode ?? signalCode}.`);
  }

  endIdle(): void {
    for (const child of this.idle) {
      this.idle.delete(child);
      child.kill();
    }
  }

  /** Ends what is under way, too. Its record says so. */
  end(): void {
    for (const child of this.processes) child.kill();
  }

  private begin(): ChildProcess {
    const env = { ...process.env, NODE_OPTIONS: `${LIMITS} ${process.env['NODE_OPTIONS'] ?? ''}` };
    // Node's trace of a process without memory is no line of the log.
    const child = fork(PROGRAM, { env, serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.processes.add(child);
    const forget = (): void => [this.idle, this.processes].forEach((set) => set.delete(child));
    child.on('message', (news: ImportNews) => 'error' in news && child.kill());
    // What runs there tells its own end.
    return child.on('error', forget).on('exit', forget);
  }
}
