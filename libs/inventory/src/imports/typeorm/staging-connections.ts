import type { StagingConnection } from './staging-connection';

/** Connections of an import. The first always exists, and one is enough. */
export interface StagingConnections {
  readonly first: StagingConnection;
  openSecond(): Promise<StagingConnection>;
  /** `beforeUnlock` runs while nobody else may import the source. */
  close(completed: boolean, beforeUnlock: () => Promise<void>): Promise<void>;
}

/** Signals that keep two concurrent batches in order. */
export interface BatchOrder {
  /** Settles when the previous batch ends. */
  readonly before: Promise<unknown>;
  /** Settles when the previous batch has taken its ids. */
  readonly numbered: Promise<unknown>;
  /** Call it when this batch has taken its ids. */
  sayNumbered(): void;
}

/**
 * The whole batch is repeated after a deadlock, a serialization failure, and when another transaction has deleted an
 * asset or a tag key that the batch refers to, or has taken an id.
 */
const PASSING = new Set(['40P01', '40001', '23503', '23505']);
export const isPassing = (error: unknown): boolean => PASSING.has(String((error as { code?: unknown }).code));
