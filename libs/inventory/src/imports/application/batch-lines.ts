import type { BadLine } from '../domain/import-report';
import type { NumberedRecord } from '../domain/import-store.port';
import { NamedAssets } from './named-assets';

/** What one batch of lines holds beside its records. */
export class BatchLines {
  readonly named = new NamedAssets();
  lines = 0;
  readonly bad: BadLine[] = [];
  /** External ids of bad lines: their assets stay visible. */
  readonly keptVisible: string[] = [];
  /** Their serial numbers: a computer may have had another external id before. */
  readonly keptSerials: unknown[] = [];
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
