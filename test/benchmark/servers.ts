import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceId } from '#libs/kernel';
import { loadSettings } from '#libs/platform/config';
import { type ArrangedApplication, Arrangement } from '../support/arrangement';
import type { BenchmarkDatabase } from './benchmark-database';
import type { Cluster } from './cluster';
import type { LoadRequest } from './load';
import { MeasuredProcess } from './measured-process';

/** More than any client here can send, so that no measurement meets a limit. */
const LIMIT = '6000000/6000000';
export const UNREACHED_LIMITS = {
  RATE_LIMIT_TOKEN: LIMIT,
  RATE_LIMIT_READ: LIMIT,
  RATE_LIMIT_WRITE: LIMIT,
  RATE_LIMIT_EXPORT: LIMIT,
};

/** The services and keys that all servers of a run share. */
type Keeping = Pick<Cluster, 'redisUrl' | 'localDir'>;

/** The API's environment. */
export function apiEnvironment({ redisUrl, localDir }: Keeping, databaseUrl: string): Record<string, string> {
  return {
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    LOCAL_DIR: localDir,
    BASE_URL: 'https://api.example.test',
    ...UNREACHED_LIMITS,
  };
}

/** Starts the real API in a process of its own. The first one makes the keys. */
export const startApi = (cluster: Keeping, databaseUrl: string): Promise<MeasuredProcess> =>
  MeasuredProcess.start('api-child.ts', apiEnvironment(cluster, databaseUrl));

/** For any server at this port, once keys exist. */
export const arrangementAt = (cluster: Keeping, database: BenchmarkDatabase, port: number): Arrangement =>
  new Arrangement(
    database.admin,
    loadSettings(apiEnvironment(cluster, database.databaseUrl)),
    `http://127.0.0.1:${port}`,
  );

/** An application of the workspace, and its token as a header. */
export interface Access {
  readonly application: ArrangedApplication;
  readonly authorization: string;
}

/** Creates an application and requests its token from the server at this port. */
export async function accessTo(port: number, arrange: Arrangement, workspace: WorkspaceId): Promise<Access> {
  const application = await arrange.anApplication(workspace);
  const body = formOf(application);
  const response = await fetch(`http://127.0.0.1:${port}/oauth/token`, { method: 'POST', body });
  if (response.status !== 200) throw new Error(`A token request got ${response.status}: ${await response.text()}`);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { application, authorization: `Bearer ${token}` };
}

/** Applications that request tokens in turn, so that no two connections wait for the same one. */
export const APPLICATIONS = 16;

/** Creates applications of the workspace, each without a token. */
export async function applicationsOf(
  arrange: Arrangement,
  workspace: WorkspaceId,
  many = APPLICATIONS,
): Promise<readonly ArrangedApplication[]> {
  const applications: ArrangedApplication[] = [];
  for (let count = 0; count < many; count += 1) applications.push(await arrange.anApplication(workspace));
  return applications;
}

/** Requests a token for each application in turn. */
export function tokenRequests(applications: readonly ArrangedApplication[]): () => LoadRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  let sent = 0;
  return () => {
    const application = applications[(sent += 1) % applications.length] as ArrangedApplication;
    return { method: 'POST', path: '/oauth/token', headers, body: formOf(application).toString() };
  };
}

export const formOf = ({ clientId, clientSecret }: ArrangedApplication): URLSearchParams =>
  new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret });

/** Starts a server other than the API, with the addresses of the services and keys. It bypasses row-level security. */
export function startOther(file: string, cluster: Keeping, databaseUrl: string): Promise<MeasuredProcess> {
  const settings = loadSettings(apiEnvironment(cluster, databaseUrl));
  const [key = ''] = readdirSync(settings.signingKeysDir).filter((name) => name.endsWith('.pem'));
  return MeasuredProcess.start(file, {
    REDIS_URL: cluster.redisUrl,
    DATABASE_URL: databaseUrl,
    SIGNING_KEY: join(settings.signingKeysDir, key),
    SECRET_PEPPER: settings.secretPepperFile,
  });
}
