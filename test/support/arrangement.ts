import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Settings } from '#libs/platform/config';
import { type Scope } from '#libs/kernel';
import { ClientSecretsSystem } from '../../libs/auth/src/system/client-secrets.system';
import { ASSET_TYPES, type AssetType } from '../../libs/inventory/src/assets/domain/asset-category';
import { CLASSIFICATIONS, type Classification, OWNER_SOURCES } from '../../libs/inventory/src/assets/domain/asset';
import { postureOf } from '../../libs/inventory/src/assets/typeorm/computer.row';
import { ApiClient } from './api-client';
import { addWorkspace } from './test-database';

export interface ArrangedApplication {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ArrangedAsset {
  readonly id: string;
  readonly internalId: string;
}

/** Properties of a test's asset. Omitted ones get ordinary values. */
export interface AssetWishes {
  readonly type?: AssetType;
  readonly name?: string;
  readonly classification?: Classification;
  readonly description?: string | null;
  readonly ownerId?: string | null;
  readonly visibility?: 'ACTIVE' | 'HIDDEN' | 'DELETED';
  /** Further columns of the table. */
  readonly columns?: Readonly<Record<string, unknown>>;
  readonly posture?: Readonly<Record<string, unknown>>;
}

const VISIBILITIES = ['ACTIVE', 'HIDDEN', 'DELETED'];

/** Whoever writes a computer writes its posture. */
export const SET_POSTURE = `
  UPDATE asset SET posture = ${postureOf('computer')} FROM computer
   WHERE asset.workspace_id = $1 AND id = $2 AND computer.workspace_id = $1 AND asset_id = id`;

/** Creates workspaces, applications and assets directly in the database. */
export class Arrangement {
  private readonly secrets: ClientSecretsSystem;

  constructor(
    private readonly admin: Pool,
    settings: Settings,
    private readonly origin: string,
  ) {
    this.secrets = new ClientSecretsSystem(readFileSync(settings.secretPepperFile));
  }

  async aWorkspace(): Promise<string> {
    return addWorkspace(this.admin);
  }

  async slugOf(workspaceId: string): Promise<string> {
    const named = 'SELECT slug FROM workspace WHERE id = $1';
    return (await this.admin.query<{ slug: string }>(named, [workspaceId])).rows[0]?.slug ?? '';
  }

  async anApplication(
    workspaceId: string,
    scopes: readonly Scope[] = ['all:read', 'all:write'],
  ): Promise<ArrangedApplication> {
    const { secret, digest } = this.secrets.newSecret();
    const clientId = this.secrets.newClientId();
    await this.admin.query(
      'INSERT INTO application (workspace_id, client_id, name, secret_digest, scopes) VALUES ($1, $2, $2, $3, $4)',
      [workspaceId, clientId, digest, scopes],
    );
    return { clientId, clientSecret: secret };
  }

  /** Returns a token of a new application, so that no other test supersedes it. */
  async aToken(workspaceId: string, scopes?: readonly Scope[]): Promise<string> {
    const { clientId, clientSecret } = await this.anApplication(workspaceId, scopes);
    const response = await new ApiClient(this.origin).requestToken({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
    if (response.status !== 200) throw new Error(response.text);
    return response.body['access_token'] as string;
  }

  async aClient(workspaceId: string, scopes?: readonly Scope[]): Promise<ApiClient> {
    return new ApiClient(this.origin, await this.aToken(workspaceId, scopes));
  }

  /**
   * Changes rows directly. Sets the workspace, because the counters' triggers run as the owner, whom row-level security
   * restricts.
   */
  async change(workspaceId: string, sql: string, values: readonly unknown[] = []): Promise<void> {
    await this.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspaceId]);
    await this.admin.query(sql, [...values]);
  }

  async anAsset(workspaceId: string, wishes: AssetWishes = {}): Promise<ArrangedAsset> {
    await this.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspaceId]);
    const type = wishes.type ?? 'CUSTOM';
    const columns: Record<string, unknown> = {
      workspace_id: workspaceId,
      source: 'test',
      external_id: randomUUID(),
      sub_key: ASSET_TYPES.indexOf(type) + 1,
      visibility: VISIBILITIES.indexOf(wishes.visibility ?? 'ACTIVE'),
      classification: CLASSIFICATIONS.indexOf(wishes.classification ?? 'UNKNOWN'),
      name: wishes.name ?? `${type} asset`,
      description: wishes.description ?? null,
      owner_id: wishes.ownerId ?? null,
      owner_source: wishes.ownerId ? OWNER_SOURCES.indexOf('INTEGRATION') + 1 : null,
      ...wishes.columns,
    };
    const { rows } = await this.insert('asset', columns, 'public_id AS id, id AS "internalId"');
    const asset = rows[0] as unknown as ArrangedAsset;
    if (type === 'COMPUTER') {
      await this.insert('computer', { workspace_id: workspaceId, asset_id: asset.internalId, ...wishes.posture }, '1');
      await this.admin.query(SET_POSTURE, [workspaceId, asset.internalId]);
    }
    return asset;
  }

  /** Adds visible assets in one statement, each with a description of so many characters. Returns their ids. */
  async manyAssets(
    workspaceId: string,
    count: number,
    descriptionLength = 0,
    type: AssetType = 'CUSTOM',
  ): Promise<string[]> {
    await this.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspaceId]);
    const { rows } = await this.admin.query<{ id: string }>(
      `INSERT INTO asset (workspace_id, source, external_id, sub_key, visibility, classification, name, description)
       SELECT $1::uuid, 'test', number, $3::smallint, $4::smallint, $5::smallint, 'badge ' || number,
              nullif(repeat('x', $6::int), '')
       FROM generate_series(1, $2::int) AS number RETURNING public_id AS id`,
      [
        workspaceId,
        count,
        ASSET_TYPES.indexOf(type) + 1,
        VISIBILITIES.indexOf('ACTIVE'),
        CLASSIFICATIONS.indexOf('UNKNOWN'),
        descriptionLength,
      ],
    );
    return rows.map(({ id }) => id);
  }

  /** Adds a tag key to the workspace. Clients cannot write platform keys. */
  async aTagKey(workspaceId: string, key: string, wishes: { value?: string; platform?: boolean } = {}): Promise<void> {
    await this.change(workspaceId, 'INSERT INTO tag_key (workspace_id, key, value, platform) VALUES ($1, $2, $3, $4)', [
      workspaceId,
      key,
      wishes.value ?? null,
      wishes.platform ?? false,
    ]);
  }

  /** Gives each asset of the workspace tags with keys of 1,000 characters. Each also has the sign, if one is given. */
  async longTags(workspaceId: string, character = 'k', sign = '', count = 900): Promise<void> {
    await this.change(
      workspaceId,
      `UPDATE asset SET tags = (
         SELECT jsonb_agg(jsonb_build_object('key', n || $3 || repeat($2, 995), 'value', '', 'readOnly', true))
           FROM generate_series(1, $4::integer) AS n)
        WHERE workspace_id = $1`,
      [workspaceId, character, sign, count],
    );
  }

  async anEmployee(workspaceId: string, name = 'Ada Okafor', email = 'ada@example.com'): Promise<ArrangedAsset> {
    return this.anAsset(workspaceId, { type: 'EMPLOYEE', name, columns: { email } });
  }

  /** Adds a row to any table of a workspace, and returns its id. */
  async aRow(table: string, columns: Readonly<Record<string, unknown>>): Promise<string> {
    await this.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [columns['workspace_id']]);
    const { rows } = await this.insert(table, columns, 'id');
    return (rows[0] as { id: string }).id;
  }

  private insert(
    table: string,
    columns: Readonly<Record<string, unknown>>,
    returning: string,
  ): Promise<{ rows: unknown[] }> {
    const names = Object.keys(columns);
    const places = names.map((_, index) => `$${index + 1}`).join(', ');
    return this.admin.query(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places}) RETURNING ${returning}`,
      Object.values(columns),
    );
  }
}
