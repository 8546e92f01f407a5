import type { NumberedRecord } from '../domain/import-store.port';
import { type KnownTagKey, toCopyLine } from './import-rows';

const FIRST_CAPACITY = 2_097_152;
/** Of one UTF-16 unit in UTF-8. */
const MOST_BYTES = 3;

/**
 * A batch as Postgres will read it. A record is written down as soon as it is known, so that it need not be kept and
 * Postgres, when it has time for the batch, does not wait. Only what has tag keys that are not known yet must wait. The
 * memory is used again for a later batch: as much again for each would be collected only when there is a lot of it.
 */
export class ImportBatch {
  private bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  private length = 0;
  private written = 0;
  private unwritten: NumberedRecord[] = [];

  get size(): number {
    return this.written + this.unwritten.length;
  }

  /** Records with keys that were not known when they were added. */
  get waiting(): readonly NumberedRecord[] {
    return this.unwritten;
  }

  add(numbered: NumberedRecord, tagKeys: ReadonlyMap<string, KnownTagKey>): void {
    for (const { key } of numbered.record.tags) {
      if (tagKeys.has(key)) continue;
      this.unwritten.push(numbered);
      return;
    }
    this.written += 1;
    this.length = this.write(toCopyLine(numbered, tagKeys), this.length);
  }

  /** The lines of COPY for all that was written down, and for these records besides; good until {@link clear}. */
  bytesWith(records: readonly NumberedRecord[], tagKeys: ReadonlyMap<string, KnownTagKey>): Buffer {
    let end = this.length;
    for (const numbered of records) end = this.write(toCopyLine(numbered, tagKeys), end);
    return this.bytes.subarray(0, end);
  }

  clear(): void {
    this.length = 0;
    this.written = 0;
    this.unwritten = [];
  }

  private write(line: string, start: number): number {
    const needed = start + line.length * MOST_BYTES;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, start);
      this.bytes = larger;
    }
    return start + this.bytes.write(line, start);
  }
}
