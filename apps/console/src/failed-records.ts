import { closeSync, openSync, writeSync } from 'node:fs';
import { jsonLine } from '#libs/kernel';

const MOST_BYTES = 100_000_000;

/** Failed records as lines of NDJSON, which can be mended and imported. The first {@link MOST_BYTES} are kept. */
export class FailedRecords {
  kept = 0;
  private length = 0;
  private descriptor: number | null = null;

  constructor(private readonly path: string) {}

  add(record: object): void {
    if (this.length > MOST_BYTES) return;
    this.descriptor ??= openSync(this.path, 'w', 0o600);
    this.length += writeSync(this.descriptor, `${jsonLine(record)}\n`);
    this.kept += 1;
  }

  close(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
  }
}
