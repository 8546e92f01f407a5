import { contentHash } from './content-hash';
import { type FirstLine, FirstLines } from './first-lines';
import { type ParsedRecord, parseImportRecord } from './import-record';

/** A line that holds a value: a record to import, faults, or a repeat, whose record is null. */
interface CheckedLine extends ParsedRecord {
  /** The line that first named the asset, when this is not the first. */
  readonly first: FirstLine | null;
}

/** Checks the records of one input, each external id of which counts once. */
export class RecordCheck {
  private readonly firstLines = new FirstLines();

  check(value: unknown, place: number): CheckedLine {
    const { externalId, record, reasons, warnings } = parseImportRecord(value);
    const hash = record && contentHash(record);
    const first = externalId === null ? null : this.firstLines.take(externalId, place, hash);
    if (first) return { externalId, record: null, reasons, warnings: [], first };
    return { externalId, record, reasons, warnings, first };
  }
}
