import type { SchemaPart } from '#libs/platform/database';
import { ComputerView1780000000020 } from './migrations/1780000000020-computer-view';
import {
  ChangedComputerRow,
  ComputerCountRow,
  ComputerSourceCountRow,
  FormerComputerRow,
  VisibleComputerRow,
} from './visible-computer.row';

/** Both processes read. The console has no feed and no past of computers. */
const READ = [
  { table: 'visible_computer', privileges: 'SELECT' },
  { table: 'computer_count', privileges: 'SELECT' },
  { table: 'computer_source_count', privileges: 'SELECT' },
];

export const computersSchema: SchemaPart = {
  entities: [VisibleComputerRow, ChangedComputerRow, FormerComputerRow, ComputerCountRow, ComputerSourceCountRow],
  migrations: [ComputerView1780000000020],
  grants: [
    ...READ,
    { table: 'changed_computer', privileges: 'SELECT' },
    { table: 'former_computer', privileges: 'SELECT' },
    { table: 'visible_computer_count', privileges: 'SELECT' },
  ],
  consoleGrants: READ,
};
