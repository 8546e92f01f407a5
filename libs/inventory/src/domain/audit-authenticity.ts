import type { RecordedEvent } from './audit-event';
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
