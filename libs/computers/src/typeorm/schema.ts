import type { SchemaPart } from '#libs/platform/database';
import { ComputerCountRow, ListedComputerRow } from './listed-computer.row';
import { ComputerView1780000000020 } from './migrations/1780000000020-computer-view';
import { ComputerChanges1780000000033 } from './migrations/1780000000033-computer-changes';
import { ListedComputers1780000000060 } from './migrations/1780000000060-listed-computers';
import { ListExistingComputers1780000000061 } from './migrations/1780000000061-list-existing-computers';
import { ChangedComputerRow, IdentifiedComputerRow, VisibleComputerRow } from './visible-computer.row';

export const computersSchema: SchemaPart = {
  entities: [VisibleComputerRow, ChangedComputerRow, IdentifiedComputerRow, ListedComputerRow, ComputerCountRow],
  migrations: [
    ComputerView1780000000020,
    ComputerChanges1780000000033,
    ListedComputers1780000000060,
    ListExistingComputers1780000000061,
  ],
  grants: [
    { table: 'visible_computer', privileges: 'SELECT' },
    { table: 'changed_computer', privileges: 'SELECT' },
    { table: 'visible_computer_count', privileges: 'SELECT' },
    { table: 'identified_computer', privileges: 'SELECT' },
    { table: 'listed_computer', privileges: 'SELECT' },
    { table: 'computer_count', privileges: 'SELECT' },
  ],
};
