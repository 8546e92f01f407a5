import { DomainError } from '#libs/kernel';

/**
 * The computer is unknown, hidden, deleted, another workspace's, or another kind of asset. Clients cannot tell these
 * apart.
 */
export class ComputerNotFound extends DomainError {
  constructor() {
    super('not_found', 'No computer has this id.');
  }
}
