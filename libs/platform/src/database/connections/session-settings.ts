import type { DataSource } from 'typeorm';
import { SESSION_SETTINGS } from './data-source';

/**
 * Settings that a session was to begin with and has not: a pooler in between forwards none of them. Each as
 * `name = value`, as it should be.
 */
export async function missingSessionSettings(dataSource: DataSource): Promise<string[]> {
  const names = Object.keys(SESSION_SETTINGS);
  const found = await dataSource.query<{ name: string; value: string }[]>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [names],
  );
  const values = new Map(found.map(({ name, value }) => [name, value]));
  return Object.entries(SESSION_SETTINGS)
    .filter(([name, value]) => values.get(name) !== value)
    .map(([name, value]) => `${name} = ${value}`);
}
