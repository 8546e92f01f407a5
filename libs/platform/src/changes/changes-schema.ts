import type { SchemaPart } from '../database/schema/schema-part';
import { ChangeHeadRow } from './change-head.row';
import { ChangeSetRow } from './change-set.row';
import { ChangeSets1780000000030 } from './migrations/1780000000030-change-sets';

/** The tables of change sets. */
export const changesSchema: SchemaPart = {
  entities: [ChangeSetRow, ChangeHeadRow],
  migrations: [ChangeSets1780000000030],
  grants: [
    { table: 'change_set', privileges: 'SELECT' },
    { table: 'change_head', privileges: 'SELECT' },
    { function: 'take_change_ticket' },
    { sequence: 'change_set_id' },
  ],
};
