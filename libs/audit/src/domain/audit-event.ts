import type { WorkspaceId } from '#libs/kernel';
import type { FieldChange } from './asset-change';

/** The end of the workspace's chain when an event was recorded. That link must stay in the chain for ever. */
export interface AuditAnchor {
  readonly sequence: number;
  /** The link at that position, hexadecimal. */
  readonly link: string;
}

/** One change of one asset, as its MAC covers it. */
export interface AuditEvent {
  readonly workspaceId: WorkspaceId;
  /** A UUIDv7 of the time of the event. */
  readonly id: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly occurredAt: string;
  /** The public id. */
  readonly assetId: string;
  readonly applicationId: string;
  readonly clientId: string;
  readonly requestId: string;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
  readonly changes: Readonly<Record<string, FieldChange>>;
  /** Null while the workspace has no sealed event. */
  readonly anchor: AuditAnchor | null;
}

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

/** The end of a workspace's chain. */
export interface AuditHead {
  readonly workspaceId: WorkspaceId;
  readonly sequence: number;
  /** The link of the last sealed event. */
  readonly head: string;
  readonly mac: string;
}
