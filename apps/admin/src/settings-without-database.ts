import { type Settings, loadSettings } from '#libs/platform/config';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Placeholder for commands without a database, so that the other settings can be read. Never connected to. */
const NO_DATABASE = 'postgres://none.invalid/none';

export const isSet = (environment: Environment, name: string): boolean =>
  Boolean(environment[name]) || Boolean(environment[`${name}_FILE`]);

/** Loads the settings of a command that needs no database. */
export function loadSettingsWithoutDatabase(environment: Environment = process.env): Settings {
  return loadSettings(isSet(environment, 'DATABASE_URL') ? environment : { ...environment, DATABASE_URL: NO_DATABASE });
}
