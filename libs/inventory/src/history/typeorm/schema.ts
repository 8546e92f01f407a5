import type { SchemaPart } from '#libs/platform/database';
import { DayCounts1780000000130 } from './migrations/1780000000130-day-counts';

/** Both processes count. */
const COUNT = [{ function: 'asset_counts_at' }, { function: 'computer_counts_at' }];

export const historySchema: SchemaPart = {
  entities: [],
  migrations: [DayCounts1780000000130],
  grants: [...COUNT, { function: 'days_to_count' }, { function: 'forget_versions' }],
  consoleGrants: COUNT,
};
