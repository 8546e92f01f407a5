import { Clock } from './clock';

/** A clock that stands still until it is moved. */
export class FakeClock extends Clock {
  constructor(private milliseconds = Date.UTC(2026, 0, 1)) {
    super();
  }

  override now(): number {
    return this.milliseconds;
  }

  advance(milliseconds: number): void {
    this.milliseconds += milliseconds;
  }
}
