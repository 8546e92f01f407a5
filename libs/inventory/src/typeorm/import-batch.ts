import type { NumberedRecord } from '../domain/import-store.port';
import { type KnownTagKey, toCopyLine } from './import-rows';

/** In UTF-16 units. A text that grows line by line is a tree of its lines until it is made into bytes. */
const CHUNK = 32_768;

/**
 * A batch as Postgres will read it. A record is written down as soon as it is known, so that it need not be kept and
 * Postgres, when it has time for the batch, does not wait. Only what has tag keys that are not known yet must.
 */
export class ImportBatch {
  private readonly chunks: Buffer[] = [];
  private text = '';
  private written = 0;
  private readonly unwritten: NumberedRecord[] = [];

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
    this.text += toCopyLine(numbered, tagKeys);
    if (this.text.length < CHUNK) return;
    this.chunks.push(Buffer.from(this.text));
    this.text = '';
  }

  /** The lines of COPY for all that was written down, and for these records besides. */
  bytesWith(records: readonly NumberedRecord[], tagKeys: ReadonlyMap<string, KnownTagKey>): Buffer {
    const rest = records.map((numbered) => toCopyLine(numbered, tagKeys)).join('');
    return Buffer.concat([...this.chunks, Buffer.from(this.text + rest)]);
  }
}
