import { type KeyObject, createHmac, createSecretKey } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import canonicalize from 'canonicalize';
import { v7 } from 'uuid';
import type { WorkspaceId } from '#libs/kernel';
import type { AuditEvent, AuditHead, AuditSeal } from '../domain/audit-event';
import { AuditEvidence } from '../domain/audit-evidence.port';

/** Shorter keys of HMAC-SHA256 are weaker than its output. */
const SHORTEST_KEY = 32;

/**
 * HMAC-SHA256 over the use, a line feed, and the RFC 8785 canonical JSON of what is covered; a link, of which there is one
 * for each event, over bytes of fixed length instead.
 */
@Injectable()
export class AuditEvidenceSystem extends AuditEvidence {
  private readonly key: KeyObject;

  /** The key is the key file byte for byte, as with the pepper. */
  constructor(key: Buffer) {
    super();
    if (key.length < SHORTEST_KEY) throw new Error(`AUDIT_KEY_FILE is shorter than ${SHORTEST_KEY} bytes.`);
    this.key = createSecretKey(key);
  }

  newEventId(occurredAt: number): string {
    return v7({ msecs: occurredAt });
  }

  eventMac(event: AuditEvent): string {
    const { workspaceId, id, occurredAt, assetId, applicationId, clientId, requestId, keyHash, changes } = event;
    const { anchor } = event;
    const covered = {
      ...{ workspaceId, id, occurredAt, assetId, applicationId, clientId, requestId, keyHash, changes, anchor },
    };
    return this.mac('audit event 1', covered);
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

  private mac(use: string, covered: object): string {
    return createHmac('sha256', this.key)
      .update(`${use}\n${canonicalize(covered) ?? ''}`)
      .digest('hex');
  }
}
