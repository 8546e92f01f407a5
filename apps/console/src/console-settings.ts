import { existsSync } from 'node:fs';
import { Settings, SettingsInvalid, isSet, loadSettings } from '#libs/platform/config';
import { CHECKPOINT_KEYS, TOKEN_KEYS, listKeys } from '#libs/platform/keys';

/**
 * Loads the settings of the console. Its database role takes the place of the API's. In production it signs people in by
 * an issuer, on https, and has no key that signs tokens or checkpoints.
 * @throws {@link SettingsInvalid} with every fault
 */
export async function loadConsoleSettings(environment: NodeJS.ProcessEnv): Promise<Settings> {
  const { DATABASE_URL: _own, DATABASE_URL_FILE: _file, DATABASE_REPLICA_URLS: _standbys, ...others } = environment;
  if (!isSet(environment, 'CONSOLE_DATABASE_URL')) throw new SettingsInvalid(['CONSOLE_DATABASE_URL is required']);
  // A placeholder: the console connects as its own role only.
  const settings = loadSettings({ ...others, DATABASE_URL: 'postgres://none.invalid/none' });
  const faults = [...portFaults(settings), ...(settings.production ? await productionFaults(settings) : [])];
  if (faults.length > 0) throw new SettingsInvalid(faults);
  return Object.assign(new Settings(), settings, { databaseUrl: settings.console.databaseUrl ?? '' });
}

function portFaults({ console: { port, managementPort } }: Settings): string[] {
  return port !== 0 && port === managementPort
    ? ['CONSOLE_MANAGEMENT_PORT must be another port than CONSOLE_PORT']
    : [];
}

async function productionFaults({ console: { oidc, url }, signingKeysDir }: Settings): Promise<string[]> {
  const faults: string[] = [];
  if (!oidc) {
    faults.push(
      'CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID and CONSOLE_OIDC_SECRET_FILE are required when NODE_ENV=production',
    );
  }
  if (oidc && !oidc.issuer.startsWith('https:')) {
    faults.push('CONSOLE_OIDC_ISSUER must be an https address when NODE_ENV=production');
  }
  if (!url.startsWith('https:')) faults.push('CONSOLE_URL must be an https address when NODE_ENV=production');
  for (const kind of existsSync(signingKeysDir) ? [TOKEN_KEYS, CHECKPOINT_KEYS] : []) {
    if ((await listKeys(kind, signingKeysDir)).length === 0) continue;
    faults.push(
      `SIGNING_KEYS_DIR holds keys of tokens or checkpoints (*${kind.suffix}): give the console a directory without them`,
    );
  }
  return faults;
}
