import type { WorkspaceId } from '#libs/kernel';
import type { FieldChange } from './audit-act';

/** The action of events that have no kind of their own. */
export const ASSET_UPDATED = 'asset.updated';

/** The actor type of people who use the console. Their events carry an id instead of a name, which can be erased. */
export const PERSON = 'PERSON';

/** The kind of an event that is no update of an asset. */
export interface EventKind {
  readonly action: string;
  readonly actorType: string;
  readonly targetType: string;
  readonly targetId: string;
}

/** One event, as its MAC covers it. */
export interface AuditEvent {
  readonly workspaceId: WorkspaceId;
  /** A UUIDv7 of the time of the event. */
  readonly id: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly occurredAt: string;
  /** Null for `asset.updated`, an application's update of an asset. */
  readonly kind: EventKind | null;
  /**
   * Name of the operator or of the import's author, or the id of the person. Null for applications. Absent in events from
   * before it was recorded.
   */
  readonly actorName?: string | null;
  /** The public id. Null for other kinds, like the members below where there is nothing to say. */
  readonly assetId: string | null;
  readonly applicationId: string | null;
  readonly clientId: string | null;
  readonly requestId: string | null;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string | null;
  readonly changes: Readonly<Record<string, FieldChange>>;
  /** Only events of release 1.0.0 may have one. Their MACs cover it; nothing else reads it. */
  readonly anchor: { readonly sequence: number; readonly link: string } | null;
}

/** Returns the kind of any event. */
export const kindOf = ({ kind, assetId }: Pick<AuditEvent, 'kind' | 'assetId'>): EventKind =>
  kind ?? { action: ASSET_UPDATED, actorType: 'APPLICATION', targetType: 'ASSET', targetId: assetId ?? '' };

/** A stored event. */
export interface RecordedEvent extends AuditEvent {
  /** Hexadecimal. */
  readonly mac: string;
  /** Place in the workspace's audit, from 1. Null until it is sealed. */
  readonly sequence: number | null;
}
