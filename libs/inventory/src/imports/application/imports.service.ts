import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { ImportFiles, type InputLine } from '../domain/import-files.port';
import type { ImportOptions } from '../domain/import-options';
import type { BytesRead, ImportCounts, ImportProgress, ImportReport } from '../domain/import-report';
import { ImportStore } from '../domain/import-store.port';
import { NO_COUNTS, type RunFile } from '../domain/recorded-run';
import { nameOfFile } from '../domain/input-places';
import { ImportRun } from './import-run';

/** Imports records into the inventory. Imports are the only way to create assets; the API never does. */
@Injectable()
export class ImportsService {
  constructor(
    private readonly store: ImportStore,
    private readonly files: ImportFiles,
  ) {}

  /** Imports the files. Reports bad lines and continues. An interrupted import can be repeated. */
  async run(workspaceId: WorkspaceId, options: ImportOptions): Promise<ImportReport> {
    const { map = null, format = null, mostBytes = Infinity } = options;
    const files = options.files.map((file) => ({ name: nameOfFile(file), bytes: this.files.sizeOf(file) }));
    const show = progressOf(options);
    // A map may read a whole document before its first record.
    const lines = this.files.read(options.files, show, { map, format, mostBytes });
    return this.runChunks(workspaceId, options, lines, show, files);
  }

  /** Imports lines from another source, such as a generator. */
  async runLines(
    workspaceId: WorkspaceId,
    options: ImportOptions,
    lines: AsyncIterable<InputLine> | Iterable<InputLine>,
  ): Promise<ImportReport> {
    return this.runChunks(workspaceId, options, oneByOne(lines), progressOf(options), []);
  }

  private async runChunks(
    workspaceId: WorkspaceId,
    options: ImportOptions,
    chunks: AsyncIterable<readonly InputLine[]>,
    onRead: (counts: ImportCounts) => void,
    files: readonly RunFile[],
  ): Promise<ImportReport> {
    const request = { map: options.map?.name ?? null, options: recordedOptions(options), files };
    const session = await this.store.open(workspaceId, { ...options, run: request });
    const run = new ImportRun(session, options, onRead);
    try {
      const report = await run.take(chunks);
      await session.end('COMPLETED', run.result());
      return report;
    } catch (error) {
      await session.end(run.outcomeOfFailure(), run.result());
      throw error;
    } finally {
      await session.close();
    }
  }
}

/** The options that an operator gave, as the record of the import shows them. */
const recordedOptions = ({
  missing,
  hideAtMost = null,
  createTagKeys,
  strict = false,
  format = null,
  rekeyBy = null,
}: ImportOptions) => ({ missing, hideAtMost, createTagKeys, strict, format, rekeyBy });

/** Tells the whole progress whenever a part of it is known. */
function progressOf({ onProgress }: ImportOptions): (part: BytesRead | ImportCounts) => void {
  let progress: ImportProgress = { ...NO_COUNTS, bytesRead: 0, bytesTotal: null };
  return (part) => {
    progress = { ...progress, ...part };
    onProgress?.(progress);
  };
}

async function* oneByOne(lines: AsyncIterable<InputLine> | Iterable<InputLine>): AsyncGenerator<readonly InputLine[]> {
  for await (const line of lines) yield [line];
}
