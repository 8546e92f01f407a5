import type { RecordedEvent } from './audit-event';
import type { AuditEvidence } from './audit-evidence.port';

/** Tells whether an event is unaltered. Altering or inventing one needs the audit key. */
export function isAuthentic(evidence: AuditEvidence, event: RecordedEvent): boolean {
  try {
    return evidence.eventMac(event) === event.mac;
  } catch {
    // Altered data may have no canonical form at all.
    return false;
  }
}
