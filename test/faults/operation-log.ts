import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';

/** An update as its sender intends it, with its key. */
export interface Operation {
  readonly key: string;
  /** Public ids of the assets that it changes. */
  readonly assets: readonly string[];
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The entity tag that the asset must still have. */
  readonly ifMatch?: string;
}

/** The result of one attempt: a response, or none. */
export type Attempt =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly code: string | null;
      readonly retryAfter: string | null;
      readonly replayed: boolean;
      readonly entityTag: string | null;
      readonly text: string;
      readonly milliseconds: number;
    }
  | { readonly kind: 'lost'; readonly reason: string; readonly milliseconds: number };

export interface History {
  readonly operation: Operation;
  readonly attempts: readonly Attempt[];
}

/**
 * Records operations and responses in a file as they happen. Afterwards it is the only evidence against the database.
 */
export class OperationLog {
  constructor(private readonly file: string) {}

  sent(operation: Operation): void {
    this.append({ operation });
  }

  heard(key: string, attempt: Attempt): void {
    this.append({ key, attempt });
  }

  /** Reads the whole file, by key. */
  read(): Map<string, History> {
    const histories = new Map<string, { operation: Operation; attempts: Attempt[] }>();
    for (const line of readFileSync(this.file, 'utf8').split('\n')) {
      if (line === '') continue;
      const entry = JSON.parse(line) as { operation: Operation } | { key: string; attempt: Attempt };
      if ('attempt' in entry) histories.get(entry.key)?.attempts.push(entry.attempt);
      else if (!histories.has(entry.operation.key)) {
        histories.set(entry.operation.key, { operation: entry.operation, attempts: [] });
      }
    }
    return histories;
  }

  private append(entry: unknown): void {
    appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
  }
}

export const keyHashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
