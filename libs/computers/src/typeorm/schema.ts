import type { SchemaPart } from '#libs/platform/database';
import { ComputerView1780000000020 } from './migrations/1780000000020-computer-view';

export const computersSchema: SchemaPart = {
  migrations: [ComputerView1780000000020],
  grants: [
    { table: 'visible_computer', privileges: 'SELECT' },
    { table: 'visible_computer_count', privileges: 'SELECT' },
  ],
};
