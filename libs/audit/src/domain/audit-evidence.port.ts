import type { WorkspaceId } from '#libs/kernel';
import type { AuditEvent, AuditHead, AuditSeal } from './audit-event';

/**
 * What makes the audit evidence: codes that only a holder of the audit key can make. Every code is an HMAC-SHA256 in
 * hexadecimal digits; none made for one use passes for another.
 */
export abstract class AuditEvidence {
  /**
   * A new UUIDv7 of this time, in milliseconds since 1970. Each is greater than all that this process made before: one
   * made after the clock went back is of the latest time before that.
   */
  abstract newEventId(occurredAt: number): string;

  /** Covers every member of the event; two events have the same only when they are equal. */
  abstract eventMac(event: AuditEvent): string;

  /** What the first event of a workspace's chain is tied to. */
  abstract chainStart(workspaceId: WorkspaceId): string;

  /** Ties an event to its place and to everything before it. */
  abstract nextLink(previous: string, sequence: number, eventMac: string): string;

  abstract sealMac(seal: Omit<AuditSeal, 'mac'>): string;

  abstract headMac(head: Omit<AuditHead, 'mac'>): string;
}
