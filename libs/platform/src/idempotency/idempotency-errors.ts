import { DomainError } from '#libs/kernel';

/** The key was used for a different request. */
export class IdempotencyConflict extends DomainError {
  constructor() {
    super('idempotency_conflict', 'This Idempotency-Key was used with a different request.');
  }
}

/** The first request with the key did not end within five seconds. */
export class IdempotencyInProgress extends DomainError {
  constructor() {
    super('idempotency_in_progress', 'A request with this Idempotency-Key is still being processed.');
  }
}
