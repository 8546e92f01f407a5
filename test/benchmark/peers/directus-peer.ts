import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { WorkspaceId } from '#libs/kernel';
import { Client } from 'pg';
import { createTestDatabase } from '../../support/test-database';
import { MeasuredProcess } from '../measured-process';
import { runToEnd } from './run-to-end';

const CHILD = 'peers/directus/directus-child.mjs';

/** The API's default number of connections to Postgres. */
const POOL_SIZE = '10';

/** Directus with its own database, in which `prepare` created the collection `assets`. */
export class DirectusPeer {
  private constructor(
    private readonly folder: string,
    readonly databaseUrl: string,
    /** The administrator's token. */
    private readonly token: string,
    readonly drop: () => Promise<void>,
  ) {}

  /** `folder` is the installation. */
  static async create(folder: string, prepare: (database: Client) => Promise<void>): Promise<DirectusPeer> {
    const database = await createTestDatabase({ migrated: false });
    const peer = new DirectusPeer(folder, database.migrationDatabaseUrl, newToken(), () => database.drop());
    await runToEnd(process.execPath, [join(__dirname, '..', CHILD), folder, 'bootstrap'], {
      env: { PATH: process.env['PATH'], ...peer.environment(peer.databaseUrl) },
    });
    // Connects as the owner, like Directus.
    const client = new Client({ connectionString: peer.databaseUrl });
    await client.connect();
    await prepare(client).finally(() => client.end());
    return peer;
  }

  /** `databaseUrl` may lead through a proxy. */
  serve(databaseUrl = this.databaseUrl): Promise<MeasuredProcess> {
    return MeasuredProcess.start(CHILD, this.environment(databaseUrl), this.folder, 'serve');
  }

  /**
   * Creates a user who may read the workspace's assets. Returns a static token, as machines use, as a request header.
   */
  async reader({ port }: MeasuredProcess, workspace: WorkspaceId): Promise<string> {
    const token = newToken();
    await this.ask(port, 'PATCH', '/collections/assets', { meta: { hidden: false } });
    const policy = await this.ask(port, 'POST', '/policies', {
      ...{ name: 'Reader', app_access: false, admin_access: false },
    });
    const permissions = { workspaceId: { _eq: workspace } };
    const permission = { policy: policy.id, collection: 'assets', action: 'read', permissions, fields: ['*'] };
    await this.ask(port, 'POST', '/permissions', permission);
    await this.ask(port, 'POST', '/users', {
      ...{ email: 'reader@example.com', status: 'active', token, policies: [{ policy: policy.id }] },
    });
    return `Bearer ${token}`;
  }

  private async ask(port: number, method: string, path: string, body: object): Promise<{ readonly id: string }> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: { id: string } }).data;
  }

  private environment(databaseUrl: string): Record<string, string> {
    return {
      NODE_ENV: 'production',
      DB_CLIENT: 'pg',
      DB_CONNECTION_STRING: databaseUrl,
      DB_POOL__MIN: '0',
      DB_POOL__MAX: POOL_SIZE,
      SECRET: this.token,
      ADMIN_EMAIL: 'admin@example.com',
      ADMIN_PASSWORD: this.token,
      ADMIN_TOKEN: this.token,
      PUBLIC_URL: 'https://directus.example.test',
      LOG_LEVEL: 'error',
      LOG_STYLE: 'raw',
      CACHE_ENABLED: 'false',
      TELEMETRY: 'false',
      SERVE_APP: 'false',
      // Its limiter would respond with 503 under full load, which is measured here.
      PRESSURE_LIMITER_ENABLED: 'false',
    };
  }
}

const newToken = (): string => randomBytes(32).toString('base64url');
