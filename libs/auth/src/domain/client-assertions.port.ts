import type { ClientKey, StoredClientKey } from './client-assertion';
import type { Trust } from './trusted-issuer';

/** Rules for an assertion of the client itself, apart from its form. */
export interface ExpectedAssertion {
  readonly clientId: string;
  readonly keys: readonly StoredClientKey[];
  /** Whether it may name the address of the token endpoint as audience. */
  readonly oldAudience: boolean;
}

/** Rules for another issuer's token that proves a client. */
export interface ExpectedWorkload {
  readonly issuer: string;
  /** The client's trusts in this issuer. */
  readonly trusts: readonly Trust[];
}

/** A client that did not prove itself. */
export interface Refusal {
  /** For the log. It holds no text of the client. Null for a secret, which is wrong in one way only. */
  readonly fault: string | null;
}

export type CheckedAssertion = { readonly key: StoredClientKey; readonly expiresAt: Date } | Refusal;
export type CheckedWorkload = { readonly trust: Trust; readonly key: ClientKey } | Refusal;

/** Checks what a client sends to prove itself. A check takes as long for a client without keys as for one with a key. */
export abstract class ClientAssertions {
  /** Checks an assertion of the client's own key (RFC 7523). `expiresAt` includes the leeway. Never rejects. */
  abstract check(assertion: string, expected: ExpectedAssertion): Promise<CheckedAssertion>;

  /** Checks a token of an issuer that the client trusts. Never rejects. */
  abstract checkWorkload(token: string, expected: ExpectedWorkload): Promise<CheckedWorkload>;
}
