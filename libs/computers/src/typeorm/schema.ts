import type { SchemaPart } from '#libs/platform/database';
import { ChangedComputerRow } from './changed-computer.row';
import { ComputerView1780000000020 } from './migrations/1780000000020-computer-view';
import { ComputerChanges1780000000033 } from './migrations/1780000000033-computer-changes';
import { VisibleComputerRow } from './visible-computer.row';

export const computersSchema: SchemaPart = {
  entities: [VisibleComputerRow, ChangedComputerRow],
  migrations: [ComputerView1780000000020, ComputerChanges1780000000033],
  grants: [
    { table: 'visible_computer', privileges: 'SELECT' },
    { table: 'changed_computer', privileges: 'SELECT' },
    { table: 'visible_computer_count', privileges: 'SELECT' },
  ],
};
