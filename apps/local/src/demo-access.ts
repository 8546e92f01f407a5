import { join } from 'node:path';
import type { Applications, Workspace } from '#libs/auth/operators';
import type { Scope } from '#libs/kernel';
import { type Settings } from '#libs/platform/config';
import { type Credentials, type KeptCredentials, keepCredentials, readCredentials } from './credentials-file';

const SCOPES: readonly Scope[] = ['all:read', 'all:write'];

export const credentialsFileOf = (settings: Settings): string => join(settings.localDir, 'credentials.json');

/**
 * Returns the credentials of the demo's applications: the stored ones while they work, else new ones. Swagger UI has its
 * own application, because its Authorize button would end the token of any other.
 */
export async function demoCredentials(
  applications: Applications,
  workspace: Workspace,
  settings: Settings,
): Promise<KeptCredentials> {
  const path = credentialsFileOf(settings);
  const work = async ({ client_id, client_secret }: Credentials): Promise<boolean> => {
    const found = await applications.find(client_id);
    if (found?.workspaceId !== workspace.id || found.disabled) return false;
    // Not under another pepper, and not after a rotation.
    return SCOPES.every((scope) => found.scopes.includes(scope)) && applications.hasSecret(client_id, client_secret);
  };
  const kept = readCredentials(path);
  if (kept && (await work(kept)) && (await work(kept.explorer))) return kept;
  const create = async (name: string): Promise<Credentials> => {
    const { application, clientSecret } = await applications.create(workspace.id, name, SCOPES);
    return { client_id: application.clientId, client_secret: clientSecret };
  };
  const credentials: KeptCredentials = {
    workspace: workspace.slug,
    ...(await create('Demo client')),
    explorer: await create('API explorer (Swagger UI)'),
  };
  keepCredentials(path, credentials);
  return credentials;
}
