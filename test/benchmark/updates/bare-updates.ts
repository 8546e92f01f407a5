import { randomBytes, randomUUID } from 'node:crypto';
import { NEW_CHANGE_SET_ID } from '#libs/platform/changes';
import { Client } from 'pg';

/** A connection serves every workspace, so each transaction sets its workspace for row-level security. */
const SCOPE = { name: 'bare_scope', text: `SELECT set_config('app.workspace_id', $1, true)` };

/** The writes of an update without reads, checks and ticket. Each statement is prepared and awaited, as usual with `pg`. */
const UPDATE = {
  name: 'bare_update',
  text: `
    UPDATE asset SET classification = $3, description = $4, api_set = api_set | 6, version = version + 1,
           change_id = ${NEW_CHANGE_SET_ID}
     WHERE workspace_id = $1 AND public_id = $2 AND facet IS NOT NULL RETURNING version`,
};
const UPDATE_MANY = {
  name: 'bare_update_many',
  text: `
    UPDATE asset SET classification = $3, description = $4, api_set = api_set | 6, version = version + 1,
           change_id = ${NEW_CHANGE_SET_ID}
     WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[]) AND facet IS NOT NULL RETURNING public_id, version`,
};
const AUDIT = {
  name: 'bare_audit',
  text: `
    INSERT INTO audit_event
           (workspace_id, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash, changes, mac)
    SELECT $1, event_id, $2, asset_id, $3, $4, $5, $6, $7, $8 FROM unnest($9::uuid[], $10::uuid[]) AS event (event_id, asset_id)`,
};
const RECORD = {
  name: 'bare_record',
  text: `
    INSERT INTO idempotency_record
           (workspace_id, application_id, key_hash, fingerprint, status, body, entity_tag, expires_at)
    VALUES ($1, $2, $3, $4, 200, $5, $6, now() + interval '1 day')`,
};

/** Sessions like the API's: one index-based plan for every value. */
const SESSION = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off';

/** Makes the API's changes as bare transactions on one connection of the API's role. */
export class BareUpdates {
  private readonly application = { id: randomUUID(), clientId: `ci_${randomBytes(16).toString('hex')}` };
  private readonly mac = randomBytes(32);

  private constructor(
    private readonly client: Client,
    private readonly workspace: string,
  ) {}

  static async connect(databaseUrl: string, workspace: string): Promise<BareUpdates> {
    const client = new Client({ connectionString: databaseUrl, options: SESSION });
    await client.connect();
    return new BareUpdates(client, workspace);
  }

  /** Stores `response` as the body of the record. */
  async update(ids: readonly string[], classification: number, description: string, response: string): Promise<void> {
    const { client, workspace, application } = this;
    const keyHash = randomBytes(32);
    const change = JSON.stringify({
      classification: { old: 'UNKNOWN', new: 'INTERNAL' },
      description: { old: 'Reviewed 0', new: description },
    });
    await client.query('BEGIN');
    await client.query({ values: [workspace], ...SCOPE });
    const updated =
      ids.length === 1
        ? await client.query({ values: [workspace, ids[0], classification, description], ...UPDATE })
        : await client.query({ values: [workspace, ids, classification, description], ...UPDATE_MANY });
    if (updated.rowCount !== ids.length) throw new Error(`${updated.rowCount} of ${ids.length} assets updated`);
    const eventIds = ids.map(() => randomUUID());
    await client.query({
      values: [
        ...[workspace, new Date(), application.id, application.clientId, randomUUID(), keyHash.toString('hex')],
        ...[change, this.mac, eventIds, ids],
      ],
      ...AUDIT,
    });
    await client.query({ values: [workspace, application.id, keyHash, this.mac, response, '"1"'], ...RECORD });
    await client.query('COMMIT');
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
