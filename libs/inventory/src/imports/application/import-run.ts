import { isExternalId, storable } from '#libs/kernel';
import type { Format, InputLine } from '../domain/import-files.port';
import { type KeptLine, keptLine } from '../domain/kept-line';
import type { RecordMap } from '../domain/maps/record-map';
import { type HideLimit, whyImplausible } from '../domain/hide-limit';
import {
  type BadLine,
  type ImportError,
  type ImportProgress,
  type ImportReport,
  REPORTED,
} from '../domain/import-report';
import type { ImportSession, MergeOutcome, NumberedRecord, RunFailure, Warning } from '../domain/import-store.port';
import { NO_COUNTS, type RunFile, type RunResult } from '../domain/recorded-run';
import { InputPlaces, nameOfFile } from '../domain/input-places';
import { RecordCheck } from '../domain/record-check';
import { NamedAssets } from './named-assets';

export interface ImportOptions {
  readonly source: string;
  /** Paths of NDJSON or CSV files. `-` is standard input. */
  readonly files: readonly string[];
  readonly dryRun: boolean;
  readonly missing: 'keep' | 'hide';
  /** The most that `hide` may hide. Null: what is plausible. */
  readonly hideAtMost?: HideLimit | null;
  readonly createTagKeys: 'platform' | null;
  /** True makes each warning an error of its record. */
  readonly strict?: boolean;
  /** A new computer with the serial number of one that the input no longer names is that asset. */
  readonly rekeyBy?: 'serialNumber' | null;
  /** Turns the items of the files into records. By default the files hold records. */
  readonly map?: RecordMap | null;
  /** By default the files tell their format. */
  readonly format?: Format | null;
  /** The most bytes of a file, unpacked. By default any number. */
  readonly mostBytes?: number;
  /** Lines in one batch, by default 5,000. */
  readonly batchSize?: number;
  /** Throws once an operator has ended the import. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Receives every bad line in order, except lines whose owner never came: these come last. */
  readonly onBadLine?: (line: BadLine) => void;
}

const BATCH = 5_000;
const INCOMPLETE =
  'The input may not name every asset: a line has no valid externalId, or it comes from a file of bad lines.';

/** Counts and batches of one running import. While one batch is read, the two before it may be merging. */
export class ImportRun {
  private batch = new NamedAssets();
  private batchBefore = new NamedAssets();
  private merging: Promise<void> = Promise.resolve();
  private mergingBefore: Promise<void> = Promise.resolve();
  private readonly counts = { ...NO_COUNTS };
  private hiddenWhy: string | null = null;
  private readonly warnings: Warning[] = [];
  private readonly errors: BadLine[] = [];
  private readonly records = new RecordCheck();
  private readonly places: InputPlaces;
  /** Lines of the current batch, its bad lines and their external ids. */
  private lines = 0;
  private bad: BadLine[] = [];
  private keptVisible: string[] = [];
  /** Warnings of the records of the current batch, and of those that wait for their owners, by their places. */
  private mended = new Map<number, string>();
  private readonly mendedWaiting = new Map<number, string>();
  /** True when a line has an external id. */
  private named = false;
  /** True when the input may not name every asset: a line has no external id, or comes from a file of bad lines. */
  private incomplete = false;

  constructor(
    private readonly session: ImportSession,
    private readonly options: Omit<ImportOptions, 'onProgress'>,
    private readonly onRead: (read: number, warned: number) => void,
  ) {
    this.places = new InputPlaces(options.files);
  }

  async take(chunks: AsyncIterable<readonly InputLine[]>): Promise<ImportReport> {
    try {
      for await (const chunk of chunks) {
        for (const line of chunk) {
          // Awaiting nothing would take a large part of the time for a line.
          if (this.lines >= (this.options.batchSize ?? BATCH)) await this.flush();
          const numbered = this.read(line);
          if (!numbered) continue;
          if (this.batch.has(numbered.record)) await this.flush();
          this.batch.add(numbered.record);
          this.session.add(numbered);
        }
      }
      await this.flush();
    } finally {
      // Waits for running merges before the session closes, whatever failed.
      await Promise.allSettled([this.mergingBefore, this.merging]);
    }
    await this.merging;
    // What is not known to be missing must not become another computer.
    if (!this.incomplete) this.counts.rekeyed = await this.session.rekey();
    for await (const outcome of this.session.mergeDeferred()) this.count(outcome, []);
    for (const [place, reason] of this.mendedWaiting) this.warn({ place, reason });
    const { hiddenWhy, hidingRefused } = await this.hide();
    this.hiddenWhy = hiddenWhy;
    this.onRead(this.counts.read, this.counts.warned);
    return {
      ...this.counts,
      hiddenWhy,
      hidingRefused,
      newSource: this.session.newSource,
      errors: this.byLine(this.errors),
      warnings: this.byLine(this.warnings),
      dryRun: this.options.dryRun,
    };
  }

  /** Asks once more: an operator who ends the import also breaks off what it reads. */
  outcomeOfFailure(): RunFailure['outcome'] {
    try {
      this.onRead(this.counts.read, this.counts.warned);
      return 'FAILED';
    } catch {
      return 'INTERRUPTED';
    }
  }

  /** What the record of the import keeps. */
  result(files: readonly RunFile[]): RunResult {
    const { counts, hiddenWhy } = this;
    return { files, counts, hiddenWhy, errors: this.recorded(this.errors), warnings: this.recorded(this.warnings) };
  }

  /** Reasons without values of records, which may be personal data, and files without their paths. */
  private recorded(faults: readonly Warning[]): ImportError[] {
    const plain = faults.map(({ place, reason, withoutValues = reason }) => ({ place, reason: withoutValues }));
    return this.byLine(plain).map(({ file, line, reason }) => {
      return { ...(file !== undefined && { file: nameOfFile(file) }), line, reason: storable(reason) };
    });
  }

  /** Hides what the input does not name, if that is asked for, known and plausible. */
  private async hide(): Promise<Pick<ImportReport, 'hiddenWhy' | 'hidingRefused'>> {
    if (this.options.missing !== 'hide') return { hiddenWhy: null, hidingRefused: false };
    const { named, incomplete, session } = this;
    // Lines without an id name assets that nobody knows, so a share of the source says nothing then.
    if (incomplete && named) return { hiddenWhy: INCOMPLETE, hidingRefused: false };
    const missing = await session.countMissing();
    const removal = { visible: session.visibleBefore, missing, named };
    const refusal = whyImplausible(removal, this.options.hideAtMost ?? null);
    if (refusal !== null) return { hiddenWhy: refusal, hidingRefused: true };
    if (incomplete) return { hiddenWhy: INCOMPLETE, hidingRefused: false };
    this.counts.hidden = this.options.dryRun || missing === 0 ? missing : await session.hideMissing();
    return { hiddenWhy: null, hidingRefused: false };
  }

  /** Sorts by line: lines whose owner never came were reported last. */
  private byLine(faults: readonly Warning[]): ImportError[] {
    return [...faults]
      .sort((one, other) => one.place - other.place)
      .map(({ place, reason }) => ({ ...this.places.at(place), reason }));
  }

  /** Returns the record of a line, or null for a bad line. */
  private read(line: InputLine): NumberedRecord | null {
    const place = this.places.placeOf(line);
    if (line.again) this.incomplete = true;
    if ('leftOut' in line) {
      this.counts.skipped += 1;
      return null;
    }
    this.lines += 1;
    this.counts.read += 1;
    if ('fault' in line) {
      if (isExternalId(line.externalId ?? null)) {
        this.named = true;
        this.keptVisible.push(line.externalId as string);
      } else this.incomplete = true;
      const fault = { place, reason: line.fault, ...(this.options.map && withoutValues(line.fault)) };
      this.bad.push(this.badLine(fault, this.keptOf(line)));
      return null;
    }
    const { externalId, record, reasons, warnings, first, same } = this.records.check(line.value, place);
    this.named ||= externalId !== null;
    this.incomplete ||= externalId === null;
    const strict = this.options.strict === true;
    if (record !== null && (warnings.length === 0 || !strict)) {
      if (warnings.length > 0) this.mended.set(place, warnings.join(' '));
      const kept = this.keptOf(line);
      return { place, record, kept: kept && JSON.stringify(kept) };
    }
    if (externalId !== null && first === null) this.keptVisible.push(externalId);
    const fault = this.faultOf(place, [...reasons, ...warnings], first);
    if (same && !strict) {
      this.counts.unchanged += 1;
      this.warn(fault);
    } else this.bad.push(this.badLine(fault, this.keptOf(line)));
    return null;
  }

  private faultOf(place: number, reasons: readonly string[], first: number | null): Warning {
    if (first === null) return { place, reason: reasons.join(' ') };
    return {
      place,
      reason: [...reasons, this.places.repeats(first)].join(' '),
      withoutValues: [...reasons, this.places.repeats(first, nameOfFile)].join(' '),
    };
  }

  /** Ends the batch. The previous batch may still be merging; the one before it must be finished. */
  private async flush(): Promise<void> {
    const { mergingBefore, merging, batch, bad, mended } = this;
    await mergingBefore;
    this.onRead(this.counts.read, this.counts.warned);
    this.session.count({ ...this.counts });
    if (this.lines === 0) return;
    const merged = this.session.merge(batch.canOverlap(this.batchBefore), this.keptVisible);
    this.mergingBefore = merging;
    this.merging = merged.then(async (outcome) => {
      await merging;
      this.count(outcome, bad, mended);
    });
    // The error is thrown where the batch is awaited. Until then it must not count as unhandled.
    this.merging.catch(() => undefined);
    [this.batch, this.batchBefore] = [this.batchBefore, batch];
    this.batch.clear();
    [this.lines, this.bad, this.keptVisible] = [0, [], []];
    this.mended = new Map();
  }

  /** `mended`: warnings of the batch. Those of records that wait are told when their owners were looked for. */
  private count(outcome: MergeOutcome, bad: readonly BadLine[], mended = this.mendedWaiting): void {
    const { created, updated, unchanged, refused, deferred } = outcome;
    this.counts.created += created;
    this.counts.updated += updated;
    this.counts.unchanged += unchanged;
    const warned = new Map(outcome.warned.map((warning) => [warning.place, warning.reason]));
    for (const { place } of refused) {
      warned.delete(place);
      mended.delete(place);
    }
    if (mended !== this.mendedWaiting && mended.size > 0) {
      for (const place of deferred) {
        const reason = mended.get(place);
        if (reason !== undefined) this.mendedWaiting.set(place, reason);
        mended.delete(place);
      }
      for (const [place, reason] of mended) this.warn({ place, reason });
    }
    for (const [place, reason] of warned) {
      const before = this.mendedWaiting.get(place);
      this.mendedWaiting.delete(place);
      this.warn({ place, reason: before === undefined ? reason : `${before} ${reason}` });
    }
    const all = refused.map(({ kept, ...fault }) => {
      return this.badLine(fault, kept === null ? null : (JSON.parse(kept) as KeptLine));
    });
    all.push(...bad);
    for (const line of all.sort((one, other) => one.place - other.place)) this.report(line);
  }

  private warn(warning: Warning): void {
    this.counts.warned += 1;
    if (this.warnings.length < REPORTED) this.warnings.push(warning);
  }

  private report(line: BadLine): void {
    this.counts.failed += 1;
    this.options.onBadLine?.(line);
    if (this.errors.length < REPORTED) this.errors.push(line);
  }

  private badLine(fault: Warning, kept: KeptLine | null): BadLine {
    return { ...fault, ...this.places.at(fault.place), ...kept };
  }

  /** Returns null when the line need not be kept. */
  private keptOf(line: InputLine): KeptLine | null {
    return this.options.onBadLine === undefined ? null : keptLine(line);
  }
}

/** The reason of an expression that failed may quote a value of its item. */
function withoutValues(fault: string): Pick<Warning, 'withoutValues'> {
  const [member] = /^(?:category|items|record\.[\w.]+)(?=: )/.exec(fault) ?? [];
  return member === undefined ? {} : { withoutValues: `${member}: the expression failed.` };
}
