/** The current time. Injected wherever a rule depends on it, so that tests can move it. */
export class Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number {
    return Date.now();
  }
}
