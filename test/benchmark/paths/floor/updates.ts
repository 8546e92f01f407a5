import { createHmac, hash, randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { ASSET_COLUMNS } from '../../../../libs/inventory/src/assets/typeorm/asset.row';
import { type Claims, Refused } from './access';
import { CLASSIFICATIONS, type Row, toAsset } from './items';
import { call, onConnection, runTogether } from './postgres';

const { at: AT } = ASSET_COLUMNS;
const auditKey = randomBytes(32);

/** The fields that the benchmark writes. */
interface Patch {
  readonly classification: string;
  readonly description: string;
}

export interface Write {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly requestId: string;
  readonly body: string;
}

export interface WriteResponse {
  readonly body: string;
  readonly entityTag: string | null;
  readonly replayed: boolean;
}

export function updateAsset(claims: Claims, write: Write, id: string): Promise<WriteResponse> {
  const patch = JSON.parse(write.body) as Patch;
  return respondOnce(claims, write, patch, [id], ([row]) => {
    if (!row) throw new Refused(404);
    const updated = patched(row, patch);
    return { body: JSON.stringify(toAsset(updated, 0)), entityTag: `"${updated[AT.version]}"` };
  });
}

export function updateAssets(claims: Claims, write: Write): Promise<WriteResponse> {
  const { ids, patch } = JSON.parse(write.body) as { readonly ids: readonly string[]; readonly patch: Patch };
  return respondOnce(claims, write, patch, [...new Set(ids)], (rows, wanted) => {
    const summary = { successfulUpdates: rows.length, failedUpdates: wanted - rows.length, failures: [] };
    return { body: JSON.stringify(summary), entityTag: null };
  });
}

/** Uses two round trips: the reads, and the writes with the commit. */
async function respondOnce(
  claims: Claims,
  write: Write,
  patch: Patch,
  ids: readonly string[],
  toResponse: (rows: readonly Row[], wanted: number) => Omit<WriteResponse, 'replayed'>,
): Promise<WriteResponse> {
  const { workspace, application } = claims;
  const keyHash = hash('sha256', write.key);
  const fingerprint = hash('sha256', [write.method, write.path, write.body].join('\n'));
  const lock = BigInt.asIntN(64, BigInt(`0x${hash('sha256', `${application}\n${keyHash}`).slice(0, 16)}`));
  const wanted = `{${ids.join(',')}}`;
  return onConnection(async (client) => {
    const [, , locked, records, rows = []] = await runTogether(client, [
      'BEGIN',
      call('set_scope', workspace),
      call('try_lock', lock.toString()),
      call('find_record', workspace, application, keyHash),
      call('lock_assets', workspace, wanted),
    ]);
    const record = records?.[0];
    if (record || locked?.[0]?.[0] !== 't') {
      await client.query('ROLLBACK');
      if (!record) throw new Refused(409);
      return replayOf(record, fingerprint);
    }
    if (rows.some((row) => row[2] === '15')) throw new Refused(403);
    const response = toResponse(rows, ids.length);
    await keep(client, claims, { ...write, keyHash, fingerprint }, { rows, wanted, patch, response });
    return { replayed: false, ...response };
  });
}

function replayOf([kept, body, entityTag]: Row, fingerprint: string): WriteResponse {
  if (kept !== fingerprint) throw new Refused(409);
  return { body: body as string, entityTag: entityTag ?? null, replayed: true };
}

async function keep(
  client: PoolClient,
  { workspace, application, client_id: clientId }: Claims,
  { requestId, keyHash, fingerprint }: Write & { readonly keyHash: string; readonly fingerprint: string },
  change: {
    readonly rows: readonly Row[];
    readonly wanted: string;
    readonly patch: Patch;
    readonly response: Omit<WriteResponse, 'replayed'>;
  },
): Promise<void> {
  const { rows, wanted, patch, response } = change;
  const occurredAt = new Date().toISOString();
  const events = rows.map((row) => {
    const [id, changes] = [uuidv7(), changesOf(row, patch)];
    const event = { workspace, id, occurredAt, assetId: row[1], application, clientId, requestId, keyHash, changes };
    const mac = createHmac('sha256', auditKey).update(JSON.stringify(event)).digest('hex');
    return { id, asset_id: row[1], changes, mac };
  });
  const code = CLASSIFICATIONS.indexOf(patch.classification);
  const author = [application, clientId, requestId, keyHash];
  await runTogether(client, [
    call('update_assets', workspace, wanted, code, patch.description),
    call('insert_events', workspace, occurredAt, ...author, JSON.stringify(events)),
    call('insert_record', workspace, application, keyHash, fingerprint, response.body, response.entityTag),
    'COMMIT',
  ]);
}

function changesOf(row: Row, { classification, description }: Patch): object {
  return {
    classification: { old: CLASSIFICATIONS[Number(row[4])], new: classification },
    description: { old: row[5], new: description },
  };
}

/** Returns the changed row. */
function patched(row: Row, { classification, description }: Patch): Row {
  const changed = [...row];
  changed[4] = String(CLASSIFICATIONS.indexOf(classification));
  changed[5] = description;
  changed[AT.version] = String(Number(row[AT.version]) + 1);
  return changed;
}
