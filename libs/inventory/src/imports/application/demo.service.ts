import type { WorkspaceId } from '#libs/kernel';
import { demoExports } from '../domain/demo-exports';
import { DEMO_SIZES, DEMO_TAG_KEYS, type DemoRecord, type DemoSize } from '../domain/demo-inventory';
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
    const total = DEMO_SIZES[size];
    const reports: ImportReport[] = [];
    let before = 0;
    for (const { source, map: name, items } of demoExports(size)) {
      const map = name === null ? null : this.mapNamed(name);
      const show = ({ read }: ImportCounts): void => onProgress({ done: before + read, total });
      const options = { ...OPTIONS, source, map, onProgress: show };
      const report = await this.imports.runLines(workspaceId, options, linesOf(items, map));
      before += report.read;
      reports.push(report);
    }
    return summed(reports);
  }
}

async function* linesOf(items: Iterable<DemoRecord>, map: RecordMap | null): AsyncGenerator<InputLine> {
  let line = 0;
  for (const item of items)
    yield { fileIndex: 0, line: (line += 1), ...(map ? await map.mapped(item) : { value: item }) };
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
