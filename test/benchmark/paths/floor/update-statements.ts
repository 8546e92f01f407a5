import { NEW_CHANGE_SET_ID } from '#libs/platform/changes';
import { SELECTED } from '../../../../libs/inventory/src/assets/typeorm/asset.row';

const RECORD = `
      SELECT encode(fingerprint, 'hex'), body, entity_tag FROM idempotency_record
       WHERE workspace_id = $1 AND application_id = $2 AND key_hash = decode($3, 'hex') AND expires_at > now()`;

/** Statements that a connection prepares for updates. They draw a change set and take no ticket, as before the feed. */
export const PREPARED = {
  set_scope: { types: '(text)', text: `SELECT set_config('app.workspace_id', $1, true)` },
  try_lock: { types: '(bigint)', text: 'SELECT pg_try_advisory_xact_lock($1)' },
  find_record: {
    types: '(uuid, uuid, text)',
    text: RECORD,
  },
  lock_assets: {
    types: '(uuid, uuid[])',
    text: `
      SELECT ${SELECTED} FROM asset
       WHERE workspace_id = $1 AND public_id = ANY ($2) AND facet IS NOT NULL ORDER BY id FOR NO KEY UPDATE`,
  },
  update_assets: {
    types: '(uuid, uuid[], smallint, text)',
    text: `
      UPDATE asset SET classification = $3, description = $4, api_set = api_set | 6, version = version + 1,
             change_id = ${NEW_CHANGE_SET_ID}
       WHERE workspace_id = $1 AND public_id = ANY ($2)`,
  },
  insert_events: {
    types: '(uuid, timestamptz, uuid, text, text, text, jsonb)',
    text: `
      INSERT INTO audit_event
             (workspace_id, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash, changes, mac)
      SELECT $1, event.id, $2, event.asset_id, $3, $4, $5, $6, event.changes, decode(event.mac, 'hex')
        FROM jsonb_to_recordset($7) AS event (id uuid, asset_id uuid, changes jsonb, mac text)`,
  },
  insert_record: {
    types: '(uuid, uuid, text, text, text, text)',
    text: `
      INSERT INTO idempotency_record
             (workspace_id, application_id, key_hash, fingerprint, status, body, entity_tag, expires_at)
      VALUES ($1, $2, decode($3, 'hex'), decode($4, 'hex'), 200, $5, $6, now() + interval '1 day')`,
  },
} as const;
