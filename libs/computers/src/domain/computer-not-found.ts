import { DomainError } from '#libs/kernel';

/** Unknown, hidden, deleted, another workspace's, or no computer: all alike. */
export class ComputerNotFound extends DomainError {
  constructor() {
    super('not_found', 'No computer has this id.');
  }
}
