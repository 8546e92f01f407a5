import { contentHash } from './content-hash';
import { FirstLines } from './first-lines';
import { type ImportRecord, parseImportRecord } from './import-record';

/** A line that holds a value: a record to import, faults, or a repeat. */
interface CheckedLine {
  /** Null when the line has no valid one. */
  readonly externalId: string | null;
  /** Null for a bad line and for a repeat. */
  readonly record: ImportRecord | null;
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
  /** The place of the line that first named the asset, when this is not the first. */
  readonly first: number | null;
  /** True when that line says the same. */
  readonly same: boolean;
}

/** Checks the records of one input, each external id of which counts once. */
export class RecordCheck {
  private readonly firstLines = new FirstLines();

  check(value: unknown, place: number): CheckedLine {
    const parsed = parseImportRecord(value);
    if ('record' in parsed) {
      const { record, warnings } = parsed;
      const { externalId } = record;
      const first = this.firstLines.take(externalId, place, contentHash(record));
      if (first === null) return { externalId, record, reasons: [], warnings, first: null, same: false };
      return { externalId, record: null, reasons: [], warnings: [], first: first.place, same: first.same };
    }
    const { externalId, reasons } = parsed;
    const first = externalId === null ? null : this.firstLines.take(externalId, place, null);
    return { externalId, record: null, reasons, warnings: [], first: first?.place ?? null, same: false };
  }
}
