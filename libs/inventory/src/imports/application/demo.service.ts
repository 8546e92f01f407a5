import type { WorkspaceId } from '#libs/kernel';
import { type DemoExport, demoExports } from '../domain/demo-exports';
import { DEMO_SIZES, DEMO_SOURCE, DEMO_TAG_KEYS, type DemoSize, demoInventory } from '../domain/demo-inventory';
import type { InputLine } from '../domain/import-files.port';
import type { ImportCounts, ImportReport } from '../domain/import-report';
import type { RecordMap } from '../domain/maps/record-map';
import { NO_COUNTS } from '../domain/recorded-run';
import type { TagKeyRepository } from '../../tag-keys/domain/tag-key-repository.port';
import type { ImportsService } from './imports.service';

type OnProgress = (progress: { readonly done: number; readonly total: number }) => void;

const OPTIONS = { files: [], dryRun: false, missing: 'keep', createTagKeys: 'platform' } as const;

/** Fills a workspace with a realistic inventory through the normal import: a small one as its tools export it. */
export class DemoService {
  constructor(
    private readonly imports: ImportsService,
    private readonly tagKeys: TagKeyRepository,
    private readonly mapNamed: (name: string) => RecordMap,
  ) {}

  /** May be repeated: existing assets stay unchanged. */
  async load(
    workspaceId: WorkspaceId,
    size: DemoSize,
    onProgress: OnProgress = () => undefined,
  ): Promise<ImportReport> {
    for (const { key, value } of DEMO_TAG_KEYS) {
      await this.tagKeys.create(workspaceId, { key, value, platform: false });
    }
    if (size === 'S' || size === 'M') return this.loadExports(workspaceId, size, onProgress);
    const lines = linesOf(demoInventory(size));
    const show = ({ read: done }: ImportCounts): void => onProgress({ done, total: DEMO_SIZES[size] });
    return this.imports.runLines(workspaceId, { ...OPTIONS, source: DEMO_SOURCE, onProgress: show }, lines);
  }

  private async loadExports(workspaceId: WorkspaceId, size: DemoSize, onProgress: OnProgress): Promise<ImportReport> {
    const reports: ImportReport[] = [];
    let done = 0;
    for (const one of demoExports(size)) {
      const show = ({ read }: ImportCounts): void => onProgress({ done: done + read, total: DEMO_SIZES[size] });
      reports.push(await this.loadExport(workspaceId, one, show));
      done += one.items.length;
    }
    return summed(reports);
  }

  private async loadExport(
    workspaceId: WorkspaceId,
    { source, map: name, items }: DemoExport,
    onProgress: (counts: ImportCounts) => void,
  ): Promise<ImportReport> {
    const map = name === null ? null : this.mapNamed(name);
    const lines: InputLine[] = [];
    for (const [index, item] of items.entries()) {
      lines.push({ fileIndex: 0, line: index + 1, ...(map ? await map.mapped(item) : { value: item }) });
    }
    return this.imports.runLines(workspaceId, { ...OPTIONS, source, map, onProgress }, lines);
  }
}

function* linesOf(values: Iterable<unknown>): Generator<InputLine> {
  let line = 0;
  for (const value of values) yield { fileIndex: 0, line: (line += 1), value };
}

function summed(reports: readonly ImportReport[]): ImportReport {
  const counts = { ...NO_COUNTS };
  for (const name of Object.keys(counts) as (keyof ImportCounts)[])
    counts[name] = reports.reduce((sum, report) => sum + report[name], 0);
  return {
    ...(reports[0] as ImportReport),
    ...counts,
    newSource: reports.some(({ newSource }) => newSource),
    errors: reports.flatMap(({ errors }) => errors),
    warnings: reports.flatMap(({ warnings }) => warnings),
  };
}
