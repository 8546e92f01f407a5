import { DomainError, type ValidationFailed, shown } from '#libs/kernel';

/** Faults of a token request (RFC 6749, 5.2). */
export class TokenRequestInvalid extends DomainError {
  constructor(parameter: string, detail: string) {
    super('invalid_request', detail, [{ parameter, code: 'format', detail }]);
  }
}

/** A parameter of the token request is absent, or has no value. */
export class ParameterMissing extends DomainError {
  constructor(parameter: string) {
    const detail = `${parameter} is required.`;
    super('invalid_request', detail, [{ parameter, code: 'required', detail }]);
  }
}

/** A parameter of the form is missing or repeated. */
export class FormInvalid extends DomainError {
  constructor({ detail, faults }: ValidationFailed) {
    super('invalid_request', detail, faults);
  }
}

/** Node keeps the first of two Authorization headers, but the client may have meant either. */
export class AuthorizationDuplicated extends DomainError {
  constructor() {
    const detail = 'The Authorization header must be given once.';
    super('invalid_request', detail, [{ header: 'Authorization', code: 'duplicated', detail }]);
  }
}

export class GrantTypeUnsupported extends DomainError {
  constructor() {
    const detail = 'grant_type must be client_credentials.';
    super('unsupported_grant_type', detail, [{ parameter: 'grant_type', code: 'choice', detail }]);
  }
}

export class AudienceUnsupported extends DomainError {
  constructor() {
    const detail = 'The audience is not the one of this API.';
    super('unsupported_audience', detail, [{ parameter: 'audience', code: 'choice', detail }]);
  }
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Quotes the scope only if it has valid characters (RFC 6749, 3.3), because the response may hold no others (5.2). */
export class ScopeNotGranted extends DomainError {
  constructor(scope: string) {
    const named = SCOPE.test(scope) ? `The scope ${shown(scope).replace('…', '...')}` : 'A scope';
    const detail = `${named} is unknown or not granted to this application.`;
    super('invalid_scope', detail, [{ parameter: 'scope', code: 'choice', detail }]);
  }
}
