import type { BadLine } from '../domain/import-report';
import type { NumberedRecord, RefusedAsset } from '../domain/import-store.port';
import { NamedAssets } from './named-assets';

/** What one batch of lines holds beside its records. */
export class BatchLines {
  readonly named = new NamedAssets();
  lines = 0;
  readonly bad: BadLine[] = [];
  /** What bad lines name. */
  readonly refused: RefusedAsset[] = [];
  /** Warnings of records by their places. */
  readonly warnings = new Map<number, string>();

  add({ place, record, warning }: ReadRecord): void {
    this.lines += 1;
    this.named.add(record);
    if (warning !== null) this.warnings.set(place, warning);
  }
}

export interface ReadRecord extends NumberedRecord {
  readonly warning: string | null;
}
