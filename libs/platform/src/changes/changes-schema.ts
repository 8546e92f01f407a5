import type { SchemaPart } from '../database/schema/schema-part';
import { ChangeHeadRow, ChangeSetRow, DayCountRow } from './change-set.row';
import { ChangeSets1780000000030 } from './migrations/1780000000030-change-sets';

const GRANTS: SchemaPart['grants'] = [
  { table: 'change_set', privileges: 'SELECT' },
  { function: 'take_change_ticket' },
  { sequence: 'change_set_id' },
];

/** The tables of change sets and of the history. A migration of the inventory makes those of the history. */
export const changesSchema: SchemaPart = {
  entities: [ChangeSetRow, ChangeHeadRow, DayCountRow],
  migrations: [ChangeSets1780000000030],
  grants: [
    ...GRANTS,
    { table: 'change_head', privileges: 'SELECT' },
    { table: 'day_count', privileges: 'SELECT, INSERT' },
  ],
  consoleGrants: [...GRANTS, { table: 'day_count', privileges: 'SELECT' }],
};
