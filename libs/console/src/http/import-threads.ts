import { on } from 'node:events';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import type { PersonAuthor } from '#libs/audit/operators';
import type { ImportOptions, ImportProgress, ImportReport } from '#libs/inventory/operators';
import type { WorkspaceId } from '#libs/kernel';
import { Settings } from '#libs/platform/config';

const PROGRAM = join(dirname(require.resolve('#package')), 'dist/apps/console/src/import-thread.js');
/** Memory of one import. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 48 };

export interface UploadOptions extends Pick<
  ImportOptions,
  'source' | 'format' | 'strict' | 'missing' | 'hideAtMost' | 'rekeyBy' | 'createTagKeys'
> {
  /** The name of a ready map. */
  readonly map: string | null;
}

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

export type ImportNews =
  { readonly progress: ImportProgress } | { readonly failedKept: number } | { readonly end: ImportEnd };

/** Runs imports in threads: pages wait for none of them, and one that needs too much memory ends alone. */
@Injectable()
export class ImportThreads {
  private readonly threads = new Set<Worker>();
  private readonly idle = new Set<Worker>();

  constructor(private readonly settings: Settings) {}

  /** @throws the error of an import that failed, and 503 when the console stops */
  async run(order: ImportOrder, onNews: (news: ImportNews) => void): Promise<ImportEnd> {
    const [thread = this.begin()] = this.idle;
    this.idle.delete(thread);
    thread.postMessage(order);
    for await (const [news] of on(thread, 'message', { close: ['exit'] }) as AsyncIterable<[ImportNews]>) {
      if (!('end' in news)) onNews(news);
      else {
        this.idle.add(thread);
        return news.end;
      }
    }
    throw new ServiceUnavailableException('The console stopped.');
  }

  endIdle(): void {
    for (const thread of this.idle) {
      this.idle.delete(thread);
      void thread.terminate();
    }
  }

  /** Ends what is under way, too. Its record says so. */
  end(): void {
    for (const thread of this.threads) void thread.terminate();
  }

  private begin(): Worker {
    const thread = new Worker(PROGRAM, { workerData: { ...this.settings }, resourceLimits: LIMITS });
    this.threads.add(thread);
    const forget = (): void => [this.idle, this.threads].forEach((set) => set.delete(thread));
    // What runs there tells its own end.
    return thread.on('error', forget).on('exit', forget);
  }
}
