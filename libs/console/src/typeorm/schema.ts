import type { SchemaPart } from '#libs/platform/database';
import { ConsoleSessionRow } from './console-session.row';
import { PeopleAndSessions1780000000120 } from './migrations/1780000000120-people-and-sessions';
import { PersonRow } from './person.row';

export const consoleSchema: SchemaPart = {
  entities: [PersonRow, ConsoleSessionRow],
  migrations: [PeopleAndSessions1780000000120],
  // The API knows nothing of the console.
  grants: [],
  consoleGrants: [
    { table: 'person', privileges: 'SELECT, INSERT, UPDATE' },
    { table: 'console_session', privileges: 'SELECT, INSERT, UPDATE, DELETE' },
    { function: 'console_memberships' },
  ],
};
