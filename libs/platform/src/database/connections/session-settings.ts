import type { DataSource } from 'typeorm';
import { SESSION_SETTINGS } from './data-source';

/** Returns session settings that did not take effect, each as `name = value`. Connection poolers drop them. */
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
