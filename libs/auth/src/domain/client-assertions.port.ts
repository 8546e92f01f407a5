import type { ClientKey, StoredClientKey } from './client-assertion';
import type { GrantWithKeys } from './grant-repository.port';
import type { Trust } from './trusted-issuer';

/** A client that did not prove itself. */
export interface Refusal {
  /** For the log. It holds no text of the client. Null for a secret, which is wrong in one way only. */
  readonly fault: string | null;
}

export type ClientFacts = Pick<GrantWithKeys, 'keys' | 'oldAudience'>;
export type CheckedAssertion = { readonly key: StoredClientKey; readonly expiresAt: Date } | Refusal;
export type CheckedWorkload = { readonly trust: Trust; readonly key: ClientKey } | Refusal;

/** Checks what a client sends to prove itself. A check takes as long for a client without keys as for one with a key. */
export abstract class ClientAssertions {
  /** Checks an assertion of the client's own key (RFC 7523). `expiresAt` includes the leeway. Never rejects. */
  abstract check(assertion: string, clientId: string, facts: ClientFacts): Promise<CheckedAssertion>;

  /** Checks a token of an issuer against the client's trusts in it. Never rejects. */
  abstract checkWorkload(token: string, issuer: string, trusts: readonly Trust[]): Promise<CheckedWorkload>;
}
