import { type KeyObject, createHmac, createSecretKey, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import canonicalize from 'canonicalize';
import { v7 } from 'uuid';
import type { WorkspaceId } from '#libs/kernel';
import { SHORTEST_AUDIT_KEY } from '#libs/platform/keys';
import type { AuditEvent, AuditHead, AuditSeal } from '../domain/audit-event';
import type { AuditFloor, AuditTree } from '../domain/audit-tree';
import { AuditEvidence } from '../domain/audit-evidence.port';
import { treeHashes } from './tree-hashes';

/** Counters start at random in the lower half of 32 bits, so that no millisecond runs out of ids. */
const FIRST_COUNTS = 2 ** 31;

/**
 * Computes HMAC-SHA256 over the purpose, a line feed and the RFC 8785 canonical JSON of the content. A link, needed for
 * every event, covers bytes of fixed length instead.
 */
@Injectable()
export class AuditEvidenceSystem extends AuditEvidence {
  readonly treeHashes = treeHashes;
  private readonly key: KeyObject;
  /** Milliseconds and counter of the last id. */
  private time = 0;
  private count = 0;

  /** The key is the key file byte for byte, like the pepper. */
  constructor(key: Buffer) {
    super();
    if (key.length < SHORTEST_AUDIT_KEY) throw new Error(`AUDIT_KEY_FILE is shorter than ${SHORTEST_AUDIT_KEY} bytes.`);
    this.key = createSecretKey(key);
  }

  newEventId(occurredAt: number): string {
    if (occurredAt > this.time) [this.time, this.count] = [occurredAt, randomInt(FIRST_COUNTS)];
    else this.count += 1;
    return v7({ msecs: this.time, seq: this.count });
  }

  eventMac(event: AuditEvent): string {
    const { workspaceId, id, occurredAt, assetId, applicationId, clientId, requestId, keyHash, ...rest } = event;
    const author = { applicationId, clientId, requestId, keyHash };
    const { kind, actorName, changes, anchor } = rest;
    const covered = { workspaceId, id, occurredAt, assetId, ...author, changes, anchor };
    if (actorName !== undefined) return this.mac('audit event 3', { ...covered, kind, actorName });
    // Events from before the actor's name.
    return kind === null ? this.mac('audit event 1', covered) : this.mac('audit event 2', { ...covered, kind });
  }

  chainStart(workspaceId: WorkspaceId): string {
    return this.mac('audit chain 1', { workspaceId });
  }

  nextLink(previous: string, sequence: number, eventMac: string): string {
    const place = Buffer.alloc(8);
    place.writeBigUInt64BE(BigInt(sequence));
    return createHmac('sha256', this.key)
      .update('audit link 1\n')
      .update(Buffer.from(previous, 'hex'))
      .update(place)
      .update(Buffer.from(eventMac, 'hex'))
      .digest('hex');
  }

  sealMac({ workspaceId, firstSequence, lastSequence, head, sealedAt }: Omit<AuditSeal, 'mac'>): string {
    return this.mac('audit seal 1', { workspaceId, firstSequence, lastSequence, head, sealedAt });
  }

  headMac({ workspaceId, sequence, head }: Omit<AuditHead, 'mac'>): string {
    return this.mac('audit head 1', { workspaceId, sequence, head });
  }

  treeMac({ workspaceId, size, link, roots }: Omit<AuditTree, 'mac'>): string {
    return this.mac('audit tree 1', { workspaceId, size, link, roots });
  }

  floorMac({ workspaceId, size, link, roots, recordedAt }: Omit<AuditFloor, 'mac'>): string {
    return this.mac('audit floor 1', { workspaceId, size, link, roots, recordedAt });
  }

  private mac(use: string, covered: object): string {
    return createHmac('sha256', this.key)
      .update(`${use}\n${canonicalize(covered) ?? ''}`)
      .digest('hex');
  }
}
