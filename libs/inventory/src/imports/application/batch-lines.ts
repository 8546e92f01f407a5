import type { BadLine } from '../domain/import-report';
import type { NumberedRecord, RefusedAsset } from '../domain/import-store.port';
import { NamedAssets } from './named-assets';

/** Content of one batch of lines, beside its records. */
export class BatchLines {
  readonly named = new NamedAssets();
  lines = 0;
  /** Approximate size of the texts that the batch keeps. */
  bytes = 0;
  readonly bad: BadLine[] = [];
  /** Assets that bad lines name. */
  readonly refused: RefusedAsset[] = [];
  /** Warnings of records by their places. */
  readonly warnings = new Map<number, string>();

  add({ place, record, warning, kept }: ReadRecord): void {
    this.lines += 1;
    for (const text of [kept, record.owner, record.ownerEmail]) this.bytes += text?.length ?? 0;
    for (const { key, value } of record.tags) this.bytes += key.length + (value?.length ?? 0);
    this.named.add(record);
    if (warning !== null) this.warnings.set(place, warning);
  }

  refuse(asset: RefusedAsset): void {
    this.refused.push(asset);
    if (typeof asset.serialNumber === 'string') this.bytes += asset.serialNumber.length;
  }

  addBad(line: BadLine): void {
    this.lines += 1;
    this.bytes += (line.text ?? line.base64 ?? '').length;
    this.bad.push(line);
  }
}

export interface ReadRecord extends NumberedRecord {
  readonly warning: string | null;
}
