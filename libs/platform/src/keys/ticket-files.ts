import { linkSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Creates a file together with its content unless it exists. Of several processes exactly one creates it. */
export function createOnce(path: string, content: string, mode: number): boolean {
  const draft = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  writeFileSync(draft, content, { mode, flag: 'wx' });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * The files of a lock in a directory: numbered tickets, of which the highest is the lock. An empty ticket is free.
 * Taking the lock means creating the next number, which only one process can do. So of two processes that see the same
 * crashed holder, one wins. Deleting a stale lock file would lack this property. The last ticket stays, because numbers
 * must not repeat.
 */
export class TicketFiles {
  constructor(
    private readonly directory: string,
    private readonly prefix = '',
  ) {}

  /** 0 before the first ticket. */
  highest(): number {
    return Math.max(0, ...this.all());
  }

  /** Returns the content of a ticket, empty once it was released. Null when it was removed since it was listed. */
  read(ticket: number): string | null {
    try {
      return readFileSync(this.pathOf(ticket), 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** Takes the lock by its next number. Returns false when another process was first. */
  take(ticket: number, content: string): boolean {
    // Not secret: commands of other users read it.
    if (!createOnce(this.pathOf(ticket), content, 0o644)) return false;
    if (this.highest() !== ticket) {
      // The number was used and removed meanwhile: a later ticket exists.
      rmSync(this.pathOf(ticket), { force: true });
      return false;
    }
    for (const old of this.all()) if (old < ticket) rmSync(this.pathOf(old), { force: true });
    return true;
  }

  release(ticket: number): void {
    writeFileSync(this.pathOf(ticket), '');
  }

  private all(): number[] {
    return readdirSync(this.directory)
      .filter((name) => name.startsWith(this.prefix))
      .map((name) => name.slice(this.prefix.length))
      .filter((number) => /^[1-9][0-9]*$/.test(number))
      .map(Number);
  }

  private pathOf(ticket: number): string {
    return join(this.directory, `${this.prefix}${ticket}`);
  }
}
