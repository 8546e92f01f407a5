import type { StoredClientKey } from './client-assertion';

/** What an assertion must be, apart from its form. */
export interface ExpectedAssertion {
  readonly clientId: string;
  readonly keys: readonly StoredClientKey[];
  /** Whether it may name the address of the token endpoint as audience. */
  readonly oldAudience: boolean;
}

export type CheckedAssertion =
  | { readonly key: StoredClientKey; readonly expiresAt: Date }
  /** For the log. It holds no text of the client. */
  | { readonly fault: string };

/** Checks what a client signed to prove itself (RFC 7523). */
export abstract class ClientAssertions {
  /**
   * Checks an assertion. Takes as long for a client without keys as for one with a key. `expiresAt` includes the leeway.
   * Never rejects.
   */
  abstract check(assertion: string, expected: ExpectedAssertion): Promise<CheckedAssertion>;
}
