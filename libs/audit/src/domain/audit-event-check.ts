import type { AnchoredEvent, RecordedEvent } from './audit-event';
import type { AuditEvidence } from './audit-evidence.port';

/** The first fault in a workspace's audit. */
export interface AuditFault {
  /** Position in the chain. Null for an unsealed event. */
  readonly sequence: number | null;
  /** For people. */
  readonly reason: string;
}

/** Tells whether an event is unaltered. Altering or inventing one needs the audit key. */
export function isAuthentic(evidence: AuditEvidence, event: RecordedEvent): boolean {
  try {
    return evidence.eventMac(event) === event.mac;
  } catch {
    // Altered data may have no canonical form at all.
    return false;
  }
}

/**
 * Tells whether the chain still holds the link that the event was anchored to. A removed event or a restarted chain
 * puts another link in that position. The anchor always precedes the event, because a link covers everything up to its
 * position.
 */
export function anchorStands({ anchor, anchoredLink }: AnchoredEvent): boolean {
  return anchor === null || anchor.link === anchoredLink;
}
