import type { AuditCheckpoint } from './audit-checkpoint';
import type { AuditEvent, RecordedEvent } from './audit-event';
import type { TreeHashes } from './audit-tree';

/**
 * Makes the codes that protect the audit. Only a holder of the audit key can compute them. Each code is an HMAC-SHA256
 * in hexadecimal, and a code for one purpose never fits another.
 */
export abstract class AuditEvidence {
  /** Hashes of the Merkle tree. Everybody can compute them. */
  abstract readonly treeHashes: TreeHashes;

  /**
   * Makes a UUIDv7 for this time, in milliseconds since 1970. Ids of this process always increase. After the clock went
   * back, an id carries the latest earlier time.
   */
  abstract newEventId(occurredAt: number): string;

  /** Covers every member of the event. Only equal events have equal MACs. */
  abstract eventMac(event: AuditEvent): string;

  /** Tells whether an event is unaltered. Altering or inventing one needs the audit key. */
  isAuthentic(event: RecordedEvent): boolean {
    try {
      return this.eventMac(event) === event.mac;
    } catch {
      // Altered data may have no canonical form at all.
      return false;
    }
  }

  /** Covers every member of the checkpoint. */
  abstract checkpointMac(checkpoint: Omit<AuditCheckpoint, 'mac'>): string;
}
