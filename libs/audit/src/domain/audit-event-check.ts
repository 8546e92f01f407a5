import type { AnchoredEvent, RecordedEvent } from './audit-event';
import type { AuditEvidence } from './audit-evidence.port';

/** Whether an event is as it was recorded: whoever altered or made it up did not have the key. */
export function isAuthentic(evidence: AuditEvidence, event: RecordedEvent): boolean {
  try {
    return evidence.eventMac(event) === event.mac;
  } catch {
    // What was put there may be beyond what can be put in canonical form at all.
    return false;
  }
}

/**
 * Whether the chain after which an event was recorded is still there: where one of its events was removed, or it was begun
 * anew, another link stands in that place. That it is before the event needs no look: a link covers all up to its place,
 * and no event among that could have named it.
 */
export function anchorStands({ anchor, anchoredLink }: AnchoredEvent): boolean {
  return anchor === null || anchor.link === anchoredLink;
}
