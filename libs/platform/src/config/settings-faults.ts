import { postgresUrl, settingsSchema, standbyUrls } from './settings-schema';

const roleOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).username : null);

const { shape } = settingsSchema;
/** The ports of each process. */
const PORT_SETTINGS = [
  ['PORT', 'MANAGEMENT_PORT'],
  ['CONSOLE_PORT', 'CONSOLE_MANAGEMENT_PORT'],
] as const;

const KEY_SETTINGS = ['SIGNING_KEYS_DIR', 'SECRET_PEPPER_FILE', 'AUDIT_KEY_FILE'] as const;

const OIDC_SETTINGS = ['CONSOLE_OIDC_ISSUER', 'CONSOLE_OIDC_CLIENT_ID', 'CONSOLE_OIDC_SECRET_FILE'] as const;

/**
 * Checks that involve two settings. They run even when single settings are invalid, so one start reports every fault.
 */
export function faultsBetween(given: Readonly<Record<string, string>>): string[] {
  const faults: string[] = [];
  // Row-level security might not restrict another role. The role of DATABASE_URL is checked at the start.
  const { data: url } = postgresUrl.safeParse(given['DATABASE_URL']);
  const { data: standbys = [] } = standbyUrls.safeParse(given['DATABASE_REPLICA_URLS']);
  if (url !== undefined && standbys.some((standby) => ![roleOf(url), null].includes(roleOf(standby)))) {
    faults.push('DATABASE_REPLICA_URLS must connect as the role of DATABASE_URL');
  }
  for (const [name, management] of PORT_SETTINGS) {
    const { data: port } = shape[name].safeParse(given[name]);
    // 0 is any free port. An invalid port is told elsewhere.
    if (port && port === shape[management].safeParse(given[management]).data) {
      faults.push(`${management} must be another port than ${name}`);
    }
  }
  const oidc = OIDC_SETTINGS.filter((name) => given[name] !== undefined);
  if (oidc.length % OIDC_SETTINGS.length !== 0) faults.push(`${OIDC_SETTINGS.join(', ')} must be set together`);
  if (given['NODE_ENV'] !== 'production') return faults;
  // Each instance would limit on its own, and none would learn of a token that another one issued.
  if (given['REDIS_URL'] === undefined && Number(given['REPLICAS'] ?? 1) > 1) {
    faults.push('REDIS_URL is required when REPLICAS is over 1 and NODE_ENV=production');
  }
  const missing = KEY_SETTINGS.filter((name) => given[name] === undefined);
  return [
    ...faults,
    ...missing.map((name) => `${name} is required when NODE_ENV=production: set its path, then run admin keys init`),
  ];
}
