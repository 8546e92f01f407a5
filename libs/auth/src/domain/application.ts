import type { Grant } from './grant';

/** What an application holds: a client id, a secret and the scopes it was given, within one workspace. */
export interface Application extends Grant {
  readonly name: string;
  readonly issuedAt: Date | null;
  readonly createdAt: Date;
  readonly previousSecretExpiresAt: Date | null;
}
