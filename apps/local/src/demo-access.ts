import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Applications, Workspace } from '#libs/auth/operators';
import { type Settings, readSecretFileSync } from '#libs/platform/config';
import { type Credentials, type KeptCredentials, keepCredentials, readCredentials } from './credentials-file';

export const credentialsFileOf = (settings: Settings): string => join(settings.localDir, 'credentials.json');

/**
 * Returns the credentials of the demo's applications: the stored ones while they are valid, else new ones. Swagger UI
 * has its own application, because its Authorize button would end the token of any other.
 */
export async function demoCredentials(
  applications: Applications,
  workspace: Workspace,
  settings: Settings,
): Promise<KeptCredentials> {
  const path = credentialsFileOf(settings);
  const pepperFingerprint = fingerprint(readSecretFileSync(settings.secretPepperFile));
  const kept = readCredentials(path);
  if (kept?.pepperFingerprint === pepperFingerprint) {
    const found = await Promise.all([kept, kept.explorer].map(({ client_id }) => applications.find(client_id)));
    if (found.every((one) => one?.workspaceId === workspace.id && !one.disabled)) return kept;
  }
  const create = async (name: string): Promise<Credentials> => {
    const { application, clientSecret } = await applications.create(workspace.id, name, ['all:read', 'all:write']);
    return { client_id: application.clientId, client_secret: clientSecret };
  };
  const credentials: KeptCredentials = {
    workspace: workspace.slug,
    ...(await create('Demo client')),
    explorer: await create('API explorer (Swagger UI)'),
    pepperFingerprint,
  };
  keepCredentials(path, credentials);
  return credentials;
}

function fingerprint(pepper: Buffer): string {
  return createHash('sha256').update('pepper fingerprint').update(pepper).digest('hex').slice(0, 16);
}
