import { appendFileSync } from 'node:fs';

/** An operation and its response, as the judge in main.go reads it. */
export interface Recorded {
  /** Names an asset, or an application with its token. */
  readonly subject: string;
  readonly kind: 'read' | 'write' | 'issue' | 'use';
  /** The description, or the token. */
  readonly value: string;
  readonly version?: number;
  readonly ifMatch?: number;
  /** 0: unanswered. A write may happen at any later time, or never. */
  readonly status: number;
  readonly call: number;
}

/** Returns monotonic nanoseconds. */
export const now = (): number => Math.round(performance.now() * 1e6);

/** Writes one line for each operation. */
export class Recorder {
  /** Operations with a response. */
  answered = 0;

  constructor(readonly file: string) {}

  /** Call it at the moment of the response. */
  heard(operation: Recorded): void {
    if (operation.status !== 0) this.answered += 1;
    appendFileSync(this.file, `${JSON.stringify({ ...operation, return: now() })}\n`);
  }
}
