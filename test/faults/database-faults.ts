import type { Pool } from 'pg';
import { type History, keyHashOf } from './operation-log';

interface EventRow {
  readonly key_hash: string;
  readonly asset_id: string;
  readonly changes: Readonly<Record<string, { readonly old: string | null; readonly new: string | null }>>;
}

interface AssetRow {
  readonly public_id: string;
  readonly description: string | null;
  readonly version: number;
}

/**
 * Returns contradictions between the database and the operation log. Each operation sets a unique description, so an
 * asset's events must form a chain from its first description to the current one.
 */
export async function updateFaults(
  admin: Pool,
  workspaceId: string,
  histories: ReadonlyMap<string, History>,
  { versionsCount = true }: { readonly versionsCount?: boolean } = {},
): Promise<string[]> {
  const events = await rowsOf<EventRow>(
    admin,
    'SELECT key_hash, asset_id, changes FROM audit_event WHERE workspace_id = $1 AND asset_id IS NOT NULL',
    workspaceId,
  );
  const assets = await rowsOf<AssetRow>(
    admin,
    'SELECT public_id, description, version FROM asset WHERE workspace_id = $1',
    workspaceId,
  );
  const byAsset = new Map<string, EventRow[]>(assets.map(({ public_id }) => [public_id, []]));
  for (const event of events) byAsset.get(event.asset_id)?.push(event);
  const eventsOf = ({ public_id }: AssetRow): EventRow[] => byAsset.get(public_id) ?? [];
  return [
    ...(await recordFaults(admin, workspaceId, histories)),
    ...eventFaults(events, histories),
    ...assets.flatMap((asset) => assetFaults(asset, eventsOf(asset), versionsCount)),
  ];
}

/** Expects exactly one record for each key, with the response that its client received, and no others. */
async function recordFaults(
  admin: Pool,
  workspaceId: string,
  histories: ReadonlyMap<string, History>,
): Promise<string[]> {
  const records = await rowsOf<{ key_hash: string; body: string; entity_tag: string | null }>(
    admin,
    `SELECT encode(key_hash, 'hex') AS key_hash, body, entity_tag FROM idempotency_record WHERE workspace_id = $1`,
    workspaceId,
  );
  const kept = new Map(records.map((record) => [record.key_hash, record]));
  const faults = records.length === kept.size ? [] : [`${records.length - kept.size} records too many`];
  for (const [key, { attempts }] of histories) {
    const record = kept.get(keyHashOf(key));
    kept.delete(keyHashOf(key));
    for (const attempt of attempts) {
      if (attempt.kind !== 'response' || attempt.status !== 200) continue;
      if (!record) faults.push(`${key}: acknowledged, but there is no record`);
      else if (record.body !== attempt.text || record.entity_tag !== attempt.entityTag) {
        faults.push(`${key}: the client was told ${attempt.text}, the record says ${record.body}`);
      }
    }
  }
  return [...faults, ...[...kept.keys()].map((hash) => `a record of a key that nobody used: ${hash}`)];
}

/** Expects exactly one event for each asset of each operation, and no others. */
function eventFaults(events: readonly EventRow[], histories: ReadonlyMap<string, History>): string[] {
  const wanted = new Map<string, number>();
  for (const [key, { operation }] of histories) {
    for (const asset of operation.assets) wanted.set(`${keyHashOf(key)} ${asset}`, 1);
  }
  for (const { key_hash, asset_id } of events) {
    const name = `${key_hash} ${asset_id}`;
    wanted.set(name, (wanted.get(name) ?? 0) - 1);
  }
  return [...wanted].filter(([, n]) => n !== 0).map(([name, n]) => `${name}: ${1 - n} events in place of one`);
}

function assetFaults(asset: AssetRow, events: readonly EventRow[], versionsCount: boolean): string[] {
  const { public_id: id, description, version } = asset;
  const next = new Map(
    events.map(({ changes }) => [changes['description']?.old ?? null, changes['description']?.new ?? null]),
  );
  let steps = 0;
  let current: string | null = null;
  for (; next.has(current); steps += 1) {
    const following: string | null = next.get(current) ?? null;
    next.delete(current);
    current = following;
  }
  return [
    ...(steps === events.length ? [] : [`${id}: ${events.length - steps} of ${events.length} events follow no other`]),
    ...(current === description ? [] : [`${id}: reads “${description}”, last set to “${current}”`]),
    ...(versionsCount && version !== events.length + 1 ? [`${id}: version ${version}, ${events.length} events`] : []),
  ];
}

/** Returns assets whose rendered tags differ from their tag rows. */
export async function tagFaults(admin: Pool, workspaceId: string): Promise<string[]> {
  const rows = await rowsOf<{ public_id: string }>(
    admin,
    `SELECT public_id FROM asset
      WHERE workspace_id = $1
        AND (SELECT coalesce(jsonb_agg(tag ->> 'key' ORDER BY tag ->> 'key'), '[]') FROM jsonb_array_elements(tags) AS tag)
            <> (SELECT coalesce(jsonb_agg(tag_key.key ORDER BY tag_key.key), '[]')
                  FROM asset_tag JOIN tag_key ON (tag_key.workspace_id, tag_key.id) = (asset_tag.workspace_id, tag_key_id)
                 WHERE asset_tag.workspace_id = $1 AND asset_id = asset.id)`,
    workspaceId,
  );
  return rows.map(({ public_id }) => `${public_id}: its tags are not those of its rows`);
}

/** Returns counters that differ from a full count. */
export async function counterFaults(admin: Pool, workspaceId: string): Promise<string[]> {
  const rows = await rowsOf<{ sub_key: number; facet: number; kept: string; counted: string }>(
    admin,
    `SELECT sub_key, facet, coalesce(kept.n, 0) AS kept, coalesce(counted.n, 0) AS counted
       FROM (SELECT sub_key, facet, count(*) AS n FROM asset
              WHERE workspace_id = $1 AND facet IS NOT NULL GROUP BY 1, 2) AS counted
       FULL JOIN (SELECT sub_key, facet, n FROM facet_count WHERE workspace_id = $1) AS kept USING (sub_key, facet)
      WHERE coalesce(kept.n, 0) <> coalesce(counted.n, 0)`,
    workspaceId,
  );
  return rows.map((row) => `type ${row.sub_key}, facet ${row.facet}: ${row.kept} kept, ${row.counted} counted`);
}

async function rowsOf<Row extends object>(admin: Pool, sql: string, workspaceId: string): Promise<Row[]> {
  return (await admin.query<Row>(sql, [workspaceId])).rows;
}
