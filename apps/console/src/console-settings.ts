import { existsSync } from 'node:fs';
import {
  Settings,
  SettingsInvalid,
  isSet,
  loadSettingsWithoutDatabase,
  readSecretFileSync,
} from '#libs/platform/config';
import { CHECKPOINT_KEYS, TOKEN_KEYS, listKeys } from '#libs/platform/keys';

/**
 * Loads the settings of the console. Its database role takes the place of the API's. In production it signs people in by
 * an issuer, on https, and has no key that signs tokens or checkpoints.
 * @throws {@link SettingsInvalid} with every fault
 */
export async function loadConsoleSettings(environment: NodeJS.ProcessEnv): Promise<Settings> {
  const { DATABASE_URL: _own, DATABASE_URL_FILE: _file, DATABASE_REPLICA_URLS: _standbys, ...others } = environment;
  const settings = loadSettingsWithoutDatabase(others, await consoleFaults(environment));
  return Object.assign(new Settings(), settings, { databaseUrl: settings.console.databaseUrl ?? '' });
}

/** Checks that the secret for the issuer can be read. @throws {@link SettingsInvalid} naming the file */
export function assertIssuerSecretReadable({ console: { oidc } }: Settings): void {
  if (oidc === null) return;
  let fault = 'is empty';
  try {
    if (readSecretFileSync(oidc.secretFile).toString().trim() !== '') return;
  } catch (error) {
    fault = `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
  throw new SettingsInvalid([`CONSOLE_OIDC_SECRET_FILE names ${oidc.secretFile}, which ${fault}`]);
}

/** Faults of the console alone. They are found even when other settings are invalid, so one start reports every fault. */
async function consoleFaults(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const faults = isSet(environment, 'CONSOLE_DATABASE_URL') ? [] : ['CONSOLE_DATABASE_URL is required'];
  if (environment['NODE_ENV'] !== 'production') return faults;
  const { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_URL: url, SIGNING_KEYS_DIR: signingKeysDir = '' } = environment;
  if (!issuer) faults.push('CONSOLE_OIDC_ISSUER and its client are required when NODE_ENV=production');
  else if (!isHttps(issuer)) faults.push('CONSOLE_OIDC_ISSUER must be an https address when NODE_ENV=production');
  if (!isHttps(url)) faults.push('CONSOLE_URL must be an https address when NODE_ENV=production');
  for (const kind of existsSync(signingKeysDir) ? [TOKEN_KEYS, CHECKPOINT_KEYS] : []) {
    if ((await listKeys(kind, signingKeysDir)).length === 0) continue;
    faults.push(`SIGNING_KEYS_DIR holds keys of tokens or checkpoints (*${kind.suffix}). The console must have none.`);
  }
  return faults;
}

const isHttps = (url = ''): boolean => url.trim().startsWith('https:');
