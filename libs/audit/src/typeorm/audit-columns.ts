import { type WorkspaceId, workspaceId } from '#libs/kernel';
import type { AnchoredEvent, AuditHead, EventKind, RecordedEvent, StoredSeal } from '../domain/audit-event';
import type { AuditFloor, AuditTree } from '../domain/audit-tree';
import type { EventOfTree } from '../domain/tree-growth';
import type { AuditEventRow } from './audit-event.row';
import type { AuditHeadRow, AuditSealRow } from './audit-proofs.row';

/** Milliseconds with all digits, so that a change by one microsecond is visible. */
const milliseconds = (column: string): string => `trim_scale(extract(epoch FROM ${column}) * 1000)::text`;

export const EVENT_COLUMNS = `
  workspace_id, id, ${milliseconds('occurred_at')} AS occurred_at, action, actor_type, actor_name, target_type, target_id,
  asset_id, application_id, client_id, request_id, key_hash, changes, anchor_sequence, encode(anchor_link, 'hex') AS anchor_link,
  encode(mac, 'hex') AS mac, sequence, encode(link, 'hex') AS link`;

/**
 * Columns of `event`, with the link that is now at its anchor's position. Costs one index lookup for each event, and a
 * second one where the anchor was archived. An anchor below the floor cannot be checked, and counts as standing.
 */
export const ANCHORED_EVENT_COLUMNS = `${EVENT_COLUMNS}, coalesce(
  (SELECT encode(anchored.link, 'hex') FROM audit_event AS anchored
    WHERE anchored.workspace_id = event.workspace_id AND anchored.sequence = event.anchor_sequence),
  (SELECT encode(CASE floor.sequence WHEN event.anchor_sequence THEN floor.link ELSE event.anchor_link END, 'hex')
     FROM audit_floor AS floor
    WHERE floor.workspace_id = event.workspace_id AND floor.sequence >= event.anchor_sequence)) AS anchored_link`;

export const SEAL_COLUMNS = `
  workspace_id, first_sequence, last_sequence, encode(head, 'hex') AS head, ${milliseconds('sealed_at')} AS sealed_at,
  encode(mac, 'hex') AS mac, ${milliseconds('recorded_at')} AS recorded_at`;

export const AUDIT_HEAD = `
  SELECT workspace_id, sequence, encode(head, 'hex') AS head, encode(mac, 'hex') AS mac
    FROM audit_head WHERE workspace_id = $1`;

/** Published events after a sequence, with their seal and the time of recording before it. */
export const EVENTS_OF_TREE = `
  SELECT ${EVENT_COLUMNS}, ${milliseconds('seal.recorded_at')} AS recorded_at,
         ${milliseconds('seal.recorded_before')} AS recorded_before, seal.first_sequence, seal.last_sequence,
         encode(seal.head, 'hex') AS seal_head, ${milliseconds('seal.sealed_at')} AS sealed_at,
         encode(seal.seal_mac, 'hex') AS seal_mac
    FROM audit_event AS event
    JOIN LATERAL (SELECT kept.recorded_at, kept.first_sequence, kept.last_sequence, kept.head, kept.sealed_at,
                         kept.mac AS seal_mac, coalesce(
                           (SELECT earlier.recorded_at FROM audit_seal AS earlier
                             WHERE earlier.workspace_id = kept.workspace_id AND earlier.last_sequence < kept.first_sequence
                             ORDER BY earlier.last_sequence DESC LIMIT 1),
                           (SELECT floor.recorded_at FROM audit_floor AS floor
                             WHERE floor.workspace_id = kept.workspace_id AND floor.sequence < kept.first_sequence)) AS recorded_before
                    FROM audit_seal AS kept
                   WHERE kept.workspace_id = event.workspace_id AND kept.last_sequence >= event.sequence
                   ORDER BY kept.last_sequence LIMIT 1) AS seal ON seal.recorded_at IS NOT NULL
   WHERE event.workspace_id = $1 AND event.sequence > $2 ORDER BY event.sequence LIMIT $3`;

export const AUDIT_TREE = `
  SELECT size, encode(link, 'hex') AS link, encode(mac, 'hex') AS mac,
         (SELECT string_agg(encode(root, 'hex'), ' ' ORDER BY place)
            FROM unnest(roots) WITH ORDINALITY AS part (root, place)) AS roots
    FROM audit_tree WHERE workspace_id = $1`;

export const AUDIT_FLOOR = `
  SELECT sequence AS size, encode(link, 'hex') AS link, encode(mac, 'hex') AS mac,
         (SELECT string_agg(encode(root, 'hex'), ' ' ORDER BY place)
            FROM unnest(roots) WITH ORDINALITY AS part (root, place)) AS roots,
         ${milliseconds('recorded_at')} AS recorded_at
    FROM audit_floor WHERE workspace_id = $1`;

/** A row as it is selected: bytes are hexadecimal, and times are milliseconds as text. */
type Selected<Row> = { readonly [Column in keyof Row]: AsText<Row[Column]> };
type AsText<Value> = Value extends Buffer | Date ? string : Value;

export type AuditEventColumns = Selected<AuditEventRow>;
export type AnchoredEventColumns = AuditEventColumns & { readonly anchored_link: string | null };
export type EventOfTreeColumns = AuditEventColumns &
  Pick<AuditSealColumns, 'first_sequence' | 'last_sequence' | 'sealed_at'> & {
    readonly recorded_at: string;
    readonly recorded_before: string | null;
    readonly seal_head: string;
    readonly seal_mac: string;
  };
export type AuditSealColumns = Selected<AuditSealRow>;
export type AuditHeadColumns = Selected<AuditHeadRow>;

/** Columns that an update of an asset leaves NULL. */
type KindColumns = Pick<AuditEventColumns, 'action' | 'actor_type' | 'target_type' | 'target_id'>;

export interface AuditTreeColumns {
  readonly size: string;
  readonly link: string;
  readonly mac: string;
  /** Separated by spaces. */
  readonly roots: string | null;
}

export interface AuditFloorColumns extends AuditTreeColumns {
  readonly recorded_at: string;
}

export const toAuditFloor = (workspaceId: WorkspaceId, row: AuditFloorColumns): AuditFloor => ({
  ...toAuditTree(workspaceId, row),
  recordedAt: toIsoTime(row.recorded_at),
});

export const toAuditTree = (workspaceId: WorkspaceId, { size, link, mac, roots }: AuditTreeColumns): AuditTree => ({
  workspaceId,
  size: Number(size),
  link,
  roots: roots?.split(' ') ?? [],
  mac,
});

export function toRecordedEvent(row: AuditEventColumns): RecordedEvent {
  const { anchor_sequence: sequence, anchor_link: link } = row;
  return {
    workspaceId: workspaceId(row.workspace_id),
    id: row.id,
    occurredAt: toIsoTime(row.occurred_at),
    kind: kindOfRow(row),
    ...actorNameOf(row),
    assetId: row.asset_id,
    applicationId: row.application_id,
    clientId: row.client_id,
    requestId: row.request_id,
    keyHash: row.key_hash,
    changes: row.changes,
    // Half an anchor violates a table constraint. No MAC covers it.
    anchor: sequence === null && link === null ? null : { sequence: Number(sequence), link: link ?? '' },
    mac: row.mac,
    sequence: row.sequence === null ? null : Number(row.sequence),
    link: row.link,
  };
}

/** Any of these columns makes a kind, so that no MAC of an update fits a row with one of them. */
export function kindOfRow({ action, actor_type, target_type, target_id }: KindColumns): EventKind | null {
  if (action === null && actor_type === null && target_type === null && target_id === null) return null;
  return { action, actorType: actor_type, targetType: target_type, targetId: target_id } as EventKind;
}

/** Empty text is no name. NULL stands in events from before the column, which have no such member. */
export const actorNameOf = ({
  actor_name: name,
}: Pick<AuditEventColumns, 'actor_name'>): Pick<RecordedEvent, 'actorName'> =>
  name === null ? {} : { actorName: name === '' ? null : name };

export const toAnchoredEvent = (row: AnchoredEventColumns): AnchoredEvent => ({
  anchoredLink: row.anchored_link,
  ...toRecordedEvent(row),
});

export const toEventOfTree = (row: EventOfTreeColumns): EventOfTree => ({
  recordedAt: toIsoTime(row.recorded_at),
  recordedBefore: row.recorded_before === null ? null : toIsoTime(row.recorded_before),
  seal: toStoredSeal({ ...row, head: row.seal_head, mac: row.seal_mac }),
  ...toRecordedEvent(row),
});

export function toStoredSeal(row: AuditSealColumns): StoredSeal {
  return {
    workspaceId: workspaceId(row.workspace_id),
    firstSequence: Number(row.first_sequence),
    lastSequence: Number(row.last_sequence),
    head: row.head,
    sealedAt: toIsoTime(row.sealed_at),
    mac: row.mac,
    recordedAt: row.recorded_at === null ? null : toIsoTime(row.recorded_at),
  };
}

export function toAuditHead(row: AuditHeadColumns): AuditHead {
  return {
    workspaceId: workspaceId(row.workspace_id),
    sequence: Number(row.sequence),
    head: row.head,
    mac: row.mac,
  };
}

/** A time that no instance wrote is shown as Postgres stores it. */
function toIsoTime(text: string): string {
  const time = new Date(/^-?\d+$/.test(text) ? Number(text) : NaN);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
