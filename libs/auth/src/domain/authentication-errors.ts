import { DomainError } from '#libs/kernel';

export class TokenMissing extends DomainError {
  constructor() {
    super('token_missing', 'A bearer token is required.');
  }
}

export class TokenInvalid extends DomainError {
  constructor() {
    super('token_invalid', 'The bearer token is not valid.');
  }
}

export class TokenExpired extends DomainError {
  constructor() {
    super('token_expired', 'The bearer token has expired.');
  }
}

export class TokenSuperseded extends DomainError {
  constructor() {
    super('token_superseded', 'A newer token was issued for this application, or its secret was rotated.');
  }
}

export class InsufficientScope extends DomainError {
  constructor(readonly scope: string) {
    super('insufficient_scope', `This operation needs the scope ${scope}.`);
  }
}

/** One identical response for an unknown client, a wrong, expired or revoked secret, and a disabled application. */
export class ClientNotAuthenticated extends DomainError {
  /** `reason` is for the log alone, and holds no text of the client. */
  constructor(readonly reason: string | null = null) {
    super('invalid_client', 'The client could not be authenticated.');
  }
}
