import type { QueryRunner } from 'typeorm';
import { schema } from '../../apps/whole-schema';
import type { RecordedMigration } from './migration-rules';

/** Returns the queries of every migration of the schema, oldest first. */
export async function recordedMigrations(): Promise<RecordedMigration[]> {
  const recorded = schema
    .flatMap(({ migrations }) => migrations)
    .map(async (Migration) => {
      const migration = new Migration();
      const queries: string[] = [];
      const query = (sql: string): Promise<unknown[]> => {
        queries.push(sql);
        return Promise.resolve([]);
      };
      await migration.up({ query } as unknown as QueryRunner);
      return {
        name: Migration.name,
        transaction: (migration as { transaction?: boolean }).transaction !== false,
        queries,
      };
    });
  return (await Promise.all(recorded)).sort((one, other) => timeOf(one) - timeOf(other));
}

/** The timestamp in the name of a migration, which orders it. */
export const timeOf = ({ name }: Pick<RecordedMigration, 'name'>): number => Number(name.slice(-13));
