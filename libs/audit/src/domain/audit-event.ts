import type { WorkspaceId } from '#libs/kernel';
import type { FieldChange } from './audit-act';

/** The end of the workspace's chain when an event was recorded. That link must stay in the chain for ever. */
export interface AuditAnchor {
  readonly sequence: number;
  /** The link at that position, hexadecimal. */
  readonly link: string;
}

/** The action of events that have no kind of their own. */
export const ASSET_UPDATED = 'asset.updated';

/** The kind of an event that is no update of an asset (additions, section 6). */
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
  /** Name of the operator or of the import's author. Null for applications. Absent in events from before it was recorded. */
  readonly actorName?: string | null;
  /** The public id. Null for other kinds, like the members below where there is nothing to say. */
  readonly assetId: string | null;
  readonly applicationId: string | null;
  readonly clientId: string | null;
  readonly requestId: string | null;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string | null;
  readonly changes: Readonly<Record<string, FieldChange>>;
  /** Null while the workspace has no sealed event. */
  readonly anchor: AuditAnchor | null;
}

/** Returns the kind of any event. */
export const kindOf = ({ kind, assetId }: Pick<AuditEvent, 'kind' | 'assetId'>): EventKind =>
  kind ?? { action: ASSET_UPDATED, actorType: 'APPLICATION', targetType: 'ASSET', targetId: assetId ?? '' };

/** A stored event. MACs and links are hexadecimal. */
export interface RecordedEvent extends AuditEvent {
  readonly mac: string;
  /** Position in the workspace's chain, from 1. Null until it is sealed. */
  readonly sequence: number | null;
  /** The hash that ties the event to all earlier ones. Null until it is sealed. */
  readonly link: string | null;
}

/** An event with the link that is now at its anchor's position, or null. */
export interface AnchoredEvent extends RecordedEvent {
  readonly anchoredLink: string | null;
}

/** One batch of events that was sealed together. */
export interface AuditSeal {
  readonly workspaceId: WorkspaceId;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** The link of the last event. */
  readonly head: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly sealedAt: string;
  readonly mac: string;
}

/** A seal as it is stored. */
export interface StoredSeal extends AuditSeal {
  /** When its events were recorded, as clients read it. Null until they are published. */
  readonly recordedAt: string | null;
}

/** The end of a workspace's chain. */
export interface AuditHead {
  readonly workspaceId: WorkspaceId;
  readonly sequence: number;
  /** The link of the last sealed event. */
  readonly head: string;
  readonly mac: string;
}
