import type { WorkspaceId } from '#libs/kernel';
import type { FieldChange } from './asset-change';

/** Where the chain of the workspace ended when an event was recorded: what stood there then must stand there ever after. */
export interface AuditAnchor {
  readonly sequence: number;
  /** The link of the event in that place, in hexadecimal digits. */
  readonly link: string;
}

/** One change of one asset, as its MAC covers it. */
export interface AuditEvent {
  readonly workspaceId: WorkspaceId;
  /** UUIDv7 of the time that it occurred. */
  readonly id: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly occurredAt: string;
  /** The public id. */
  readonly assetId: string;
  readonly applicationId: string;
  readonly clientId: string;
  readonly requestId: string;
  /** SHA-256 of the Idempotency-Key, in hexadecimal digits. */
  readonly keyHash: string;
  readonly changes: Readonly<Record<string, FieldChange>>;
  /** Null while nothing of the workspace was sealed. */
  readonly anchor: AuditAnchor | null;
}

/** An event as it is kept. MACs and links are in hexadecimal digits. */
export interface RecordedEvent extends AuditEvent {
  readonly mac: string;
  /** Its place in the workspace's chain, from 1; null until it is sealed. */
  readonly sequence: number | null;
  /** What ties it to the events before it; null until it is sealed. */
  readonly link: string | null;
}

/** An event with what stands in the place of its anchor now, null where nothing does. */
export interface AnchoredEvent extends RecordedEvent {
  readonly anchoredLink: string | null;
}

/** One batch of events that was chained at once. */
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

/** Where the chain of a workspace ends. */
export interface AuditHead {
  readonly workspaceId: WorkspaceId;
  readonly sequence: number;
  /** The link of the last sealed event. */
  readonly head: string;
  readonly mac: string;
}
