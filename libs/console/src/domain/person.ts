import { ValidationFailed, type WorkspaceId } from '#libs/kernel';

export const ROLES = ['viewer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Somebody who may use the console of a workspace. */
export interface Person {
  readonly id: string;
  /** Null once the person was erased, like the e-mail address. */
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
  /** A person who does not sign in within 14 days of being added becomes `closed`. */
  readonly state: 'open' | 'closed' | 'removed' | 'erased';
  readonly addedAt: Date;
  readonly signedInAt: Date | null;
}

/** A person of one workspace. An account may have one in each. */
export interface Membership {
  readonly workspaceId: WorkspaceId;
  readonly personId: string;
}

/** Proof of a person: an account of the issuer, with an address that the issuer verified. */
export interface Account {
  readonly issuer: string;
  readonly subject: string;
  readonly verifiedEmail: string | null;
}

/** People that a page or command names and that are not there. */
export class NoSuchPerson extends Error {}

/** Nobody could manage the workspace afterwards. */
export class LastAdministrator extends Error {
  constructor() {
    super('This is the last administrator of the workspace. Make another person an administrator first.');
  }
}

/** The address or the account is taken by somebody who is open. */
export class PersonThere extends ValidationFailed {
  constructor() {
    const detail = 'A person with this e-mail address or subject is there already.';
    super([{ parameter: 'email', code: 'duplicated', detail }]);
  }
}
