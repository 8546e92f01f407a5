import { isExternalId } from '#libs/kernel';
import type { InputLine } from '../domain/import-files.port';
import { keptLine } from '../domain/kept-line';
import { whyImplausible } from '../domain/hide-limit';
import type { ImportOptions } from '../domain/import-options';
import { type BadLine, type ImportCounts, type ImportReport, REPORTED } from '../domain/import-report';
import type { ImportSession, MergeOutcome, RefusedAsset, Warning } from '../domain/import-store.port';
import type { RunResult } from '../domain/recorded-run';
import { InputPlaces } from '../domain/input-places';
import { RecordCheck } from '../domain/record-check';
import { BatchLines, type ReadRecord } from './batch-lines';
import { ImportTally } from './import-tally';
import { KeptTexts } from './kept-texts';

const BATCH = 5_000;
/** Long lines end a batch early, so that memory does not grow with them. */
const MOST_BYTES = 16_000_000;
const MAY_BE_REKEYED =
  'Only an input that names every asset tells whether this is the computer of before with its serialNumber;';
const NOT_KEPT = 'There are warnings, which were not kept: too many differ.';

/** One running import. While one batch is read, the two before it may be merging. */
export class ImportRun {
  private batch = new BatchLines();
  private batchBefore = new BatchLines();
  private merging: Promise<void> = Promise.resolve();
  private mergingBefore: Promise<void> = Promise.resolve();
  private readonly tally: ImportTally;
  private readonly records = new RecordCheck();
  private readonly places: InputPlaces;
  /** Warnings of the records that wait for their owners, by their places. */
  private readonly waiting = new Map<number, string>();
  /** The different texts among them, so that equal ones take memory once. */
  private readonly texts = new Map<string, string>();
  /** Null when nobody wants bad lines as they were. */
  private readonly kept: KeptTexts | null;
  /** True when a line has an external id. */
  private named = false;
  /** Why the input may not name every asset: the first line without an external id, or from a file of bad lines. */
  private incomplete: string | null = null;
  private hiddenWhy: string | null = null;
  private hidingRefused = false;

  constructor(
    private readonly session: ImportSession,
    private readonly options: ImportOptions,
    private readonly onRead: (counts: ImportCounts) => void,
  ) {
    this.places = new InputPlaces(options.files);
    this.kept = options.onBadLine ? new KeptTexts(this.places) : null;
    this.tally = new ImportTally(this.places, options.onBadLine);
  }

  async take(chunks: AsyncIterable<readonly InputLine[]>): Promise<ImportReport> {
    await this.readAll(chunks);
    const { counts } = this.tally;
    // An input with gaps does not tell which computers vanished, so none is rekeyed.
    if (this.incomplete === null) {
      await this.tellLate(this.session.mergeDeferred('employees'));
      for await (const rekeyed of this.eachOf(this.session.rekey())) counts.rekeyed += rekeyed;
    } else await this.tellLate(this.session.refuseToRekey(`${MAY_BE_REKEYED} ${this.incomplete}`));
    await this.tellLate(this.session.mergeDeferred('all'));
    for (const [place, reason] of this.waiting) this.tally.warn({ place, reason });
    if (this.options.missing === 'hide') await this.hide();
    this.tellProgress();
    return {
      ...counts,
      hiddenWhy: this.hiddenWhy,
      hidingRefused: this.hidingRefused,
      newSource: this.session.newSource,
      ...this.tally.shown(),
      dryRun: this.options.dryRun,
    };
  }

  /** Asks once more: an operator who ends the import also breaks off what it reads. */
  outcomeOfFailure(): 'FAILED' | 'INTERRUPTED' {
    try {
      this.tellProgress();
      return 'FAILED';
    } catch {
      return 'INTERRUPTED';
    }
  }

  /** Returns the result for the record of the import. */
  result(): RunResult {
    return { hiddenWhy: this.hiddenWhy, ...this.tally.recorded() };
  }

  private async readAll(chunks: AsyncIterable<readonly InputLine[]>): Promise<void> {
    try {
      for await (const chunk of chunks) {
        for (const line of chunk) {
          // Awaiting nothing would take a large part of the time for a line.
          const { lines, bytes } = this.batch;
          if (lines >= (this.options.batchSize ?? BATCH) || bytes >= MOST_BYTES) await this.flush();
          const read = this.read(line);
          if (read === null) continue;
          // A batch holds an id once. The record belongs to the next one, as does its warning.
          if (this.batch.hasIdOf(read.record)) await this.flush();
          this.batch.add(read);
          this.session.add(read);
        }
      }
      await this.flush();
    } finally {
      // Waits for running merges before the session closes, whatever failed.
      await Promise.allSettled([this.mergingBefore, this.merging]);
    }
    await this.merging;
  }

  /** Returns the record of a line, or null for a line that brings none. */
  private read(line: InputLine): ReadRecord | null {
    const place = this.places.placeOf(line);
    const { counts } = this.tally;
    if (line.again) this.incomplete ??= `${this.places.lineOf(place)} comes from a file of bad lines.`;
    if ('leftOut' in line) {
      counts.skipped += 1;
      return null;
    }
    counts.read += 1;
    const { externalId, record, reasons, first, ...checked } =
      'fault' in line ? unread(line) : this.records.check(line.value, place);
    const lost = record && this.session.warningOf(record);
    const warnings = lost === null ? checked.warnings : [...checked.warnings, lost];
    this.named ||= externalId !== null;
    if (externalId === null) this.incomplete ??= `${this.places.lineOf(place)} names no asset.`;
    const strict = this.options.strict === true;
    if (record !== null && (warnings.length === 0 || !strict)) {
      const warning = warnings.length > 0 ? warnings.join(' ') : null;
      return { place, record, kept: this.kept?.textOf(line) ?? null, warning };
    }
    if (externalId !== null && first === null) {
      const { serialNumber } = ('fault' in line ? line : line.value) as Partial<RefusedAsset>;
      this.batch.refuse({ externalId, serialNumber });
    }
    const repeat = first === null ? [] : [this.places.repeats(first.place)];
    const fault = { place, reason: [...reasons, ...warnings, ...repeat].join(' ') };
    if (first?.same && !strict) {
      this.batch.lines += 1;
      counts.unchanged += 1;
      this.tally.warn(fault);
    } else {
      const safe = this.options.map && 'fault' in line ? withoutValues(line.fault) : {};
      this.batch.addBad(this.tally.badLine({ ...fault, ...safe }, this.kept && keptLine(line)));
    }
    return null;
  }

  /** Ends the batch. The previous batch may still be merging; the one before it must be finished. */
  private async flush(): Promise<void> {
    const { mergingBefore, merging, batch } = this;
    await mergingBefore;
    this.tellProgress();
    if (batch.lines === 0) return;
    const merged = this.session.merge(batch.canOverlap(this.batchBefore), batch.refused);
    this.mergingBefore = merging;
    this.merging = merged.then(async (outcome) => {
      await merging;
      this.tell(outcome, batch);
    });
    // The error is thrown where the batch is awaited. Until then it must not count as unhandled.
    this.merging.catch(() => undefined);
    this.batchBefore = batch;
    this.batch = new BatchLines();
  }

  /** Tells what became of a batch. Warnings of records that wait are told when their owners were looked for. */
  private tell(outcome: MergeOutcome, { warnings, bad }: BatchLines): void {
    for (const { place } of outcome.refused) warnings.delete(place);
    for (const place of outcome.deferred) {
      const reason = warnings.get(place);
      if (reason !== undefined) this.waiting.set(place, this.keptText(reason));
      warnings.delete(place);
    }
    for (const [place, reason] of warnings) this.tally.warn({ place, reason });
    this.count(outcome, bad);
  }

  private keptText(reason: string): string {
    if (!this.texts.has(reason) && this.texts.size < REPORTED) this.texts.set(reason, reason);
    return this.texts.get(reason) ?? NOT_KEPT;
  }

  /** Tells what became of records that waited. */
  private async tellLate(outcomes: AsyncIterable<MergeOutcome>): Promise<void> {
    for await (const outcome of this.eachOf(outcomes)) {
      const refused = new Set(outcome.refused.map(({ place }) => place));
      for (const place of refused) this.waiting.delete(place);
      for (const { place, reason } of outcome.warned) {
        if (refused.has(place)) continue;
        const before = this.waiting.get(place);
        this.waiting.delete(place);
        this.tally.warn({ place, reason: before === undefined ? reason : `${before} ${reason}` });
      }
      this.count(outcome, []);
    }
  }

  private count({ created, updated, unchanged, refused }: MergeOutcome, bad: readonly BadLine[]): void {
    const { tally } = this;
    tally.counts.created += created;
    tally.counts.updated += updated;
    tally.counts.unchanged += unchanged;
    const lines = refused.map(({ kept, ...fault }) =>
      tally.badLine(fault, this.kept?.lineOf(fault.place, kept) ?? null),
    );
    tally.fail([...lines, ...bad]);
  }

  /** Hides what the input does not name, if that is known and plausible, or remembers why not. */
  private async hide(): Promise<void> {
    const { named, session } = this;
    this.hiddenWhy = this.incomplete && `The input may not name every asset: ${this.incomplete}`;
    // Lines without an id name assets that nobody knows, so a share of the source says nothing then.
    if (this.hiddenWhy !== null && named) return;
    let missing = 0;
    for await (const found of this.eachOf(session.countMissing())) missing += found;
    const removal = { visible: session.visibleBefore, missing, named };
    const refusal = whyImplausible(removal, this.options.hideAtMost ?? null);
    this.hidingRefused = refusal !== null;
    this.hiddenWhy = refusal ?? this.hiddenWhy;
    if (this.hiddenWhy !== null) return;
    const { counts } = this.tally;
    if (this.options.dryRun) counts.hidden = missing;
    else if (missing > 0) for await (const hidden of this.eachOf(session.hideMissing())) counts.hidden += hidden;
  }

  /** Tells the progress after each step, once the step is counted. */
  private async *eachOf<Step>(steps: AsyncIterable<Step>): AsyncGenerator<Step> {
    for await (const step of steps) {
      yield step;
      this.tellProgress();
    }
  }

  /** @throws when an operator has ended the import */
  private tellProgress(): void {
    this.session.count({ ...this.tally.counts });
    this.onRead(this.tally.counts);
  }
}

/** A line that the reader or the map could not turn into a record. */
const unread = ({ fault, externalId }: Extract<InputLine, { readonly fault: string }>) => ({
  externalId: externalId !== undefined && isExternalId(externalId) ? externalId : null,
  ...{ record: null, reasons: [fault], warnings: [], first: null },
});

/** The reason of an expression that failed may quote a value of its item. */
function withoutValues(fault: string): Pick<Warning, 'withoutValues'> {
  const [member] = /^(?:category|items|record\.[\w.]+)(?=: )/.exec(fault) ?? [];
  return member === undefined ? {} : { withoutValues: `${member}: the expression failed.` };
}
