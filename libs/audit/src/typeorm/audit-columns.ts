import { workspaceId } from '#libs/kernel';
import type { SealedEvent } from '../domain/audit-archive-store.port';
import type { AuditCheckpoint } from '../domain/audit-checkpoint';
import { ASSET_UPDATED, type EventKind, type RecordedEvent } from '../domain/audit-event';
import type { AuditCheckpointRow } from './audit-checkpoint.row';
import type { AuditEventRow } from './audit-event.row';

/** Milliseconds with all digits, so that a change by one microsecond is visible. */
const milliseconds = (column: string): string => `trim_scale(extract(epoch FROM ${column}) * 1000)::text`;

export const EVENT_COLUMNS = `
  workspace_id, id, ${milliseconds('occurred_at')} AS occurred_at, action, actor_type, actor_name, target_type, target_id,
  asset_id, application_id, client_id, request_id, key_hash, changes, anchor_sequence, encode(anchor_link, 'hex') AS anchor_link,
  encode(mac, 'hex') AS mac, sequence`;

/** Sealed events of workspace $1, each with the time of the checkpoint that covers it first. More conditions follow. */
export const SELECT_SEALED = `
  SELECT ${EVENT_COLUMNS}, ${milliseconds('kept.recorded_at')} AS recorded_at
    FROM audit_event AS event CROSS JOIN LATERAL (
           SELECT recorded_at FROM audit_checkpoint AS covering
            WHERE covering.workspace_id = event.workspace_id AND covering.size >= event.sequence
            ORDER BY covering.size LIMIT 1) AS kept
   WHERE workspace_id = $1`;

export const CHECKPOINT_COLUMNS = `
  workspace_id, size, ${milliseconds('recorded_at')} AS recorded_at, last_event, is_floor::int::text AS is_floor,
  encode(mac, 'hex') AS mac, (SELECT string_agg(encode(root, 'hex'), ' ' ORDER BY place)
                                FROM unnest(roots) WITH ORDINALITY AS part (root, place)) AS roots`;

/** A row as it is selected: bytes are hexadecimal, and times are milliseconds as text. */
type Selected<Row> = { readonly [Column in keyof Row]: AsText<Row[Column]> };
type AsText<Value> = Value extends Buffer | Date ? string : Value;

export type AuditEventColumns = Selected<Omit<AuditEventRow, 'link'>>;
/** All of them texts, also where they are read without their names. */
export interface CheckpointColumns extends Omit<Selected<AuditCheckpointRow>, 'is_floor' | 'roots'> {
  readonly is_floor: string;
  /** Separated by spaces. */
  readonly roots: string | null;
}

export type SealedEventColumns = AuditEventColumns & { readonly recorded_at: string };

/** Columns that an update of an asset leaves NULL. */
type KindColumns = Pick<AuditEventColumns, 'action' | 'actor_type' | 'target_type' | 'target_id'>;

export const toCheckpoint = (row: CheckpointColumns): AuditCheckpoint => ({
  workspaceId: workspaceId(row.workspace_id),
  size: Number(row.size),
  roots: row.roots?.split(' ') ?? [],
  lastEvent: row.last_event,
  recordedAt: toIsoTime(row.recorded_at),
  isFloor: row.is_floor === '1',
  mac: row.mac,
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
  };
}

export const toSealedEvent = (row: SealedEventColumns): SealedEvent => ({
  ...toRecordedEvent(row),
  sequence: Number(row.sequence),
  recordedAt: toIsoTime(row.recorded_at),
});

/** Any of these columns makes a kind, so that no MAC of an update fits a row with one of them. */
function kindOfRow({ action, actor_type, target_type, target_id }: KindColumns): EventKind | null {
  if (action === null && actor_type === null && target_type === null && target_id === null) return null;
  // People update assets, too.
  return {
    action: action ?? ASSET_UPDATED,
    actorType: actor_type,
    targetType: target_type,
    targetId: target_id,
  } as EventKind;
}

/** Empty text is no name. NULL stands in events from before the column, which have no such member. */
const actorNameOf = ({ actor_name: name }: Pick<AuditEventColumns, 'actor_name'>): Pick<RecordedEvent, 'actorName'> =>
  name === null ? {} : { actorName: name === '' ? null : name };

/** A time that no instance wrote is shown as Postgres stores it. */
function toIsoTime(text: string): string {
  const time = new Date(/^-?\d+$/.test(text) ? Number(text) : NaN);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
