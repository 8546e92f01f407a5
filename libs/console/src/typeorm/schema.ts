import type { SchemaPart } from '#libs/platform/database';
import { ConsoleSessionRow } from './console-session.row';
import { PeopleAndSessions1780000000120 } from './migrations/1780000000120-people-and-sessions';
import { PersonRow } from './person.row';

/** Columns that change. */
const OF_PERSON =
  'email, name, role, issuer, subject, added_at, signed_in_at, removed_at, link_digest, link_expires_at';

export const consoleSchema: SchemaPart = {
  entities: [PersonRow, ConsoleSessionRow],
  migrations: [PeopleAndSessions1780000000120],
  // The API knows nothing of the console.
  grants: [],
  consoleGrants: [
    { table: 'person', privileges: `SELECT, INSERT, UPDATE (${OF_PERSON})` },
    { table: 'console_session', privileges: 'SELECT, INSERT, UPDATE (used_at), DELETE' },
    { function: 'console_memberships' },
  ],
};
