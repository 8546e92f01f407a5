import type { SchemaPart } from '#libs/platform/database';
import { AssetDayRow, ComputerDayRow, DayCountRow } from './day-count.row';
import { DayCounts1780000000130 } from './migrations/1780000000130-day-counts';

export const historySchema: SchemaPart = {
  entities: [DayCountRow, AssetDayRow, ComputerDayRow],
  migrations: [DayCounts1780000000130],
  grants: [
    { table: 'day_count', privileges: 'SELECT, INSERT' },
    { table: 'asset_day', privileges: 'SELECT' },
    { table: 'computer_day', privileges: 'SELECT' },
    { function: 'asset_counts_at' },
    { function: 'computer_counts_at' },
    { function: 'days_to_count' },
    { function: 'forget_versions' },
  ],
  consoleGrants: [
    { table: 'day_count', privileges: 'SELECT' },
    { table: 'asset_day', privileges: 'SELECT' },
    { table: 'computer_day', privileges: 'SELECT' },
    { function: 'asset_counts_at' },
    { function: 'computer_counts_at' },
  ],
};
