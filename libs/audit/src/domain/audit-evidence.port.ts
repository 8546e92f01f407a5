import type { WorkspaceId } from '#libs/kernel';
import type { AuditEvent, AuditHead, AuditSeal } from './audit-event';
import type { AuditFloor, AuditTree, TreeHashes } from './audit-tree';

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

  /** The first link of a workspace's chain, before any event. */
  abstract chainStart(workspaceId: WorkspaceId): string;

  /** The link of an event. It covers the event's position and everything before it. */
  abstract nextLink(previous: string, sequence: number, eventMac: string): string;

  abstract sealMac(seal: Omit<AuditSeal, 'mac'>): string;

  abstract headMac(head: Omit<AuditHead, 'mac'>): string;

  abstract treeMac(tree: Omit<AuditTree, 'mac'>): string;

  abstract floorMac(floor: Omit<AuditFloor, 'mac'>): string;
}
