import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Undertaker } from '../support/undertaker';

/** A directory that is gone when it is removed or when this process ends, however it ends. */
export class TemporaryDirectory {
  readonly path: string;
  private readonly undertaker: Undertaker;

  constructor(prefix: string) {
    this.path = mkdtempSync(join(tmpdir(), prefix));
    this.undertaker = new Undertaker('rm -rf "$1"', this.path);
  }

  async remove(): Promise<void> {
    await this.undertaker.call();
  }
}
