import type { NumberedRecord } from '../domain/import-store.port';
import { type KnownTagKey, toCopyLine } from './import-rows';

const FIRST_CAPACITY = 2_097_152;
/** Bytes of one UTF-16 unit in UTF-8. */
const MOST_BYTES = 3;

/**
 * A batch in the format of COPY. Records are written as soon as they are known, so they need not be kept, and Postgres
 * never waits for them. Only records with unknown tag keys must wait. Later batches reuse the memory, because garbage
 * collection would free it late.
 */
export class ImportBatch {
  private bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  private length = 0;
  private written = 0;
  /** Records with tag keys that were unknown when they were added. */
  readonly waiting: NumberedRecord[] = [];

  get size(): number {
    return this.written + this.waiting.length;
  }

  add(numbered: NumberedRecord, tagKeys: ReadonlyMap<string, KnownTagKey>): void {
    if (!numbered.record.tags.every(({ key }) => tagKeys.has(key))) return void this.waiting.push(numbered);
    this.written += 1;
    this.length = this.write(toCopyLine(numbered, tagKeys), this.length);
  }

  /** Returns the COPY lines of all written records and of these. Valid until {@link clear}. */
  bytesWith(records: readonly NumberedRecord[], tagKeys: ReadonlyMap<string, KnownTagKey>): Buffer {
    let end = this.length;
    for (const numbered of records) end = this.write(toCopyLine(numbered, tagKeys), end);
    return this.bytes.subarray(0, end);
  }

  clear(): void {
    this.length = 0;
    this.written = 0;
    this.waiting.length = 0;
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
