import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { ImportFiles, type InputLine } from '../domain/import-files.port';
import { type ImportRecord, parseImportRecord } from '../domain/import-record';
import type { ImportError, ImportProgress, ImportReport } from '../domain/import-report';
import { type ImportSession, ImportStore, type MergeOutcome, type NumberedRecord } from '../domain/import-store.port';
import { NamedAssets } from './named-assets';

export interface ImportOptions {
  readonly source: string;
  /** Paths of NDJSON or CSV files; `-` is standard input. */
  readonly files: readonly string[];
  readonly dryRun: boolean;
  readonly missing: 'keep' | 'hide';
  readonly createTagKeys: 'platform' | null;
  /** Records that are merged at a time: 5,000 unless given. */
  readonly batchSize?: number;
  readonly onProgress?: (progress: ImportProgress) => void;
  readonly onError?: (error: ImportError) => void;
}

const BATCH = 5_000;
/** Makes one number of file and line, so that no line needs to be remembered. */
const LINES_PER_FILE = 1e12;
/** Errors kept for the report; `onError` is told of every one. */
const REPORTED_ERRORS = 1_000;

/** Brings records into the inventory: the one way in (the API never creates assets). */
@Injectable()
export class ImportsService {
  constructor(
    private readonly store: ImportStore,
    private readonly files: ImportFiles,
  ) {}

  /** Bad lines are reported and the rest goes on. An interrupted import can be run again. */
  async run(workspaceId: WorkspaceId, options: ImportOptions): Promise<ImportReport> {
    let bytes: Omit<ImportProgress, 'read'> = { bytesRead: 0, bytesTotal: null };
    const lines = this.files.read(options.files, (progress) => (bytes = progress));
    return this.runChunks(workspaceId, options, lines, (read) => options.onProgress?.({ read, ...bytes }));
  }

  /** The same for lines that come from elsewhere, such as a generator. */
  async runLines(
    workspaceId: WorkspaceId,
    options: Omit<ImportOptions, 'onProgress'>,
    lines: AsyncIterable<InputLine> | Iterable<InputLine>,
    onRead: (read: number) => void,
  ): Promise<ImportReport> {
    return this.runChunks(workspaceId, options, oneByOne(lines), onRead);
  }

  private async runChunks(
    workspaceId: WorkspaceId,
    options: Omit<ImportOptions, 'onProgress'>,
    chunks: AsyncIterable<readonly InputLine[]>,
    onRead: (read: number) => void,
  ): Promise<ImportReport> {
    const { source, dryRun } = options;
    const session = await this.store.open(workspaceId, {
      source,
      dryRun,
      createTagKeys: options.createTagKeys === 'platform',
      hideMissing: options.missing === 'hide',
    });
    const run = new ImportRun(session, options, onRead);
    let completed = false;
    try {
      const report = await run.take(chunks);
      completed = true;
      return report;
    } finally {
      await session.close(completed);
    }
  }
}

/** Counts and batches of one import while it runs. While one batch is read, the two before it may be merged. */
class ImportRun {
  private batch = new NamedAssets();
  private batchBefore = new NamedAssets();
  private merging: Promise<void> = Promise.resolve();
  private mergingBefore: Promise<void> = Promise.resolve();
  private readonly counts = { read: 0, created: 0, updated: 0, unchanged: 0, hidden: 0, failed: 0 };
  private readonly errors: { readonly place: number; readonly error: ImportError }[] = [];
  private readonly spared: string[] = [];
  /** A line that does not say by an external id which asset it is about: what is missing is not known then. */
  private unreadable = false;

  constructor(
    private readonly session: ImportSession,
    private readonly options: Omit<ImportOptions, 'onProgress'>,
    private readonly onRead: (read: number) => void,
  ) {}

  async take(chunks: AsyncIterable<readonly InputLine[]>): Promise<ImportReport> {
    try {
      for await (const chunk of chunks) {
        for (const line of chunk) {
          const numbered = this.read(line);
          // Waiting for nothing would take a good part of the time that a line takes.
          if (!numbered) continue;
          if (this.mustFlush(numbered.record)) await this.flush();
          this.batch.add(numbered.record);
          this.session.add(numbered);
        }
      }
      await this.flush();
    } finally {
      // What is under way is waited for before the session may close, whatever failed.
      await Promise.allSettled([this.mergingBefore, this.merging]);
    }
    await this.merging;
    this.count(await this.session.mergeDeferred());
    if (this.options.missing === 'hide' && !this.unreadable) {
      await this.session.spare(this.spared);
      this.counts.hidden = await this.session.hideMissing();
    }
    this.onRead(this.counts.read);
    return { ...this.counts, errors: this.errorsByLine(), dryRun: this.options.dryRun };
  }

  /** What only the database can say of a line is found after what stands in the lines that follow. */
  private errorsByLine(): ImportError[] {
    return this.errors.sort((one, other) => one.place - other.place).map(({ error }) => error);
  }

  /** The record of a line, or null for a bad line, which is reported. */
  private read(line: InputLine): NumberedRecord | null {
    const place = line.fileIndex * LINES_PER_FILE + line.line;
    this.counts.read += 1;
    if ('fault' in line) {
      this.unreadable = true;
      this.fail(place, line.fault);
      return null;
    }
    const parsed = parseImportRecord(line.value);
    if ('record' in parsed) return { place, record: parsed.record };
    if (parsed.externalId === null) this.unreadable = true;
    else this.spared.push(parsed.externalId);
    this.fail(place, parsed.reasons.join(' '));
    return null;
  }

  /** Whether the batch is full, or has the asset already: the same asset twice is two imports one after the other. */
  private mustFlush(record: ImportRecord): boolean {
    return this.batch.size >= (this.options.batchSize ?? BATCH) || this.batch.has(record);
  }

  private async flush(): Promise<void> {
    await this.mergingBefore;
    this.onRead(this.counts.read);
    if (this.batch.size === 0) return;
    const apart = this.batch.isApartFrom(this.batchBefore);
    [this.batch, this.batchBefore] = [this.batchBefore, this.batch];
    this.batch.clear();
    this.mergingBefore = this.merging;
    this.merging = this.session.merge(apart).then((outcome) => {
      this.count(outcome);
    });
    // A failure is thrown where the batch is waited for; until then it is nobody's surprise.
    this.merging.catch(() => undefined);
  }

  private count(outcome: MergeOutcome): void {
    this.counts.created += outcome.created;
    this.counts.updated += outcome.updated;
    this.counts.unchanged += outcome.unchanged;
    for (const { place, reason } of outcome.refused) this.fail(place, reason);
  }

  private fail(place: number, reason: string): void {
    this.counts.failed += 1;
    const line = place % LINES_PER_FILE;
    const file = this.options.files[Math.floor(place / LINES_PER_FILE)];
    const error = this.options.files.length > 1 && file !== undefined ? { file, line, reason } : { line, reason };
    if (this.errors.length < REPORTED_ERRORS) this.errors.push({ place, error });
    this.options.onError?.(error);
  }
}

async function* oneByOne(lines: AsyncIterable<InputLine> | Iterable<InputLine>): AsyncGenerator<readonly InputLine[]> {
  for await (const line of lines) yield [line];
}
