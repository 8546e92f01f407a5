import type { ImportRecord } from '../domain/import-record';
import type { BadLine } from '../domain/import-report';
import type { NumberedRecord, RefusedAsset } from '../domain/import-store.port';

export interface ReadRecord extends NumberedRecord {
  readonly warning: string | null;
}

/** Content of one batch of lines, beside its records. */
export class BatchLines {
  lines = 0;
  /** Approximate size of the texts that the batch keeps. */
  bytes = 0;
  readonly bad: BadLine[] = [];
  /** Assets that bad lines name. */
  readonly refused: RefusedAsset[] = [];
  /** Warnings of records by their places. */
  readonly warnings = new Map<number, string>();
  private readonly ids = new Set<string>();
  private hasEmployees = false;
  private hasOwners = false;

  add({ place, record, warning, kept }: ReadRecord): void {
    const { id, type, ownerId, owner, ownerEmail, tags } = record;
    this.lines += 1;
    for (const text of [kept, owner, ownerEmail]) this.bytes += text?.length ?? 0;
    for (const { key, value } of tags) this.bytes += key.length + (value?.length ?? 0);
    if (id !== null) this.ids.add(id);
    this.hasEmployees ||= type === 'EMPLOYEE';
    this.hasOwners ||= (ownerId ?? owner ?? ownerEmail) !== null;
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

  hasIdOf({ id }: ImportRecord): boolean {
    return id !== null && this.ids.has(id);
  }

  /** Tells whether this batch may begin before that one ends. Records refer to others only as owners, who are employees. */
  canOverlap(before: BatchLines): boolean {
    return !(this.hasOwners && before.hasEmployees) && [...this.ids].every((id) => !before.ids.has(id));
  }
}
