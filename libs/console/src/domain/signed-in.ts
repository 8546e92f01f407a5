import type { Membership, Role } from './person';

/** The person who uses the console, for one request. */
export interface SignedIn extends Membership {
  readonly workspaceName: string;
  readonly personName: string;
  readonly role: Role;
  /** The random part of the cookie. Tokens of forms derive from it. */
  readonly secret: string;
  readonly requestId: string;
}
