import type { WorkspaceId } from '#libs/kernel';
import type { Role } from './person';

/** The person who uses the console, for one request. */
export interface SignedIn {
  readonly workspaceId: WorkspaceId;
  readonly workspaceName: string;
  readonly personId: string;
  readonly personName: string;
  readonly role: Role;
  /** The random part of the cookie. Tokens of forms derive from it. */
  readonly secret: string;
  readonly requestId: string;
}

/** Whether this role may see what the other one may. */
export const mayAct = (role: Role, needed: Role): boolean => role === 'admin' || needed === 'viewer';
