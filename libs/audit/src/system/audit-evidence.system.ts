import { type KeyObject, createHmac, createSecretKey, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import canonicalize from 'canonicalize';
import { v7 } from 'uuid';
import type { AuditCheckpoint } from '../domain/audit-checkpoint';
import type { AuditEvent } from '../domain/audit-event';
import { AuditEvidence } from '../domain/audit-evidence.port';
import { treeHashes } from './tree-hashes';

/** Counters start at random in the lower half of 32 bits, so that no millisecond runs out of ids. */
const FIRST_COUNTS = 2 ** 31;

/** Tags may have megabytes. As one text they would take several times as much memory. */
const LONG_TEXT = 64_000;

/** Computes HMAC-SHA256 over the purpose, a line feed and the RFC 8785 canonical JSON of the content. */
@Injectable()
export class AuditEvidenceSystem extends AuditEvidence {
  readonly treeHashes = treeHashes;
  private readonly key: KeyObject;
  /** Milliseconds and counter of the last id. */
  private time = 0;
  private count = 0;

  constructor(key: Buffer) {
    super();
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
    // Release 1.0.0 recorded neither the kind nor the actor's name. Any of them makes another MAC.
    if (kind === null && actorName === undefined) return this.mac('audit event 1', covered);
    return this.mac('audit event 2', { ...covered, kind, actorName });
  }

  checkpointMac(checkpoint: Omit<AuditCheckpoint, 'mac'>): string {
    const { workspaceId, size, roots, lastEvent, recordedAt, isFloor } = checkpoint;
    return this.mac('audit checkpoint 1', { workspaceId, size, roots, lastEvent, recordedAt, isFloor });
  }

  private mac(use: string, covered: object): string {
    const hmac = createHmac('sha256', this.key);
    let text = `${use}\n`;
    writeCanonical(covered, (piece) => {
      text += piece;
      if (text.length < LONG_TEXT) return;
      hmac.update(text);
      text = '';
    });
    return hmac.update(text).digest('hex');
  }
}

/** Writes the RFC 8785 form of a value in pieces. */
export function writeCanonical(value: unknown, write: (piece: string) => void): void {
  if (Array.isArray(value)) {
    write('[');
    value.forEach((item, at) => {
      if (at > 0) write(',');
      writeCanonical(item, write);
    });
    write(']');
  } else if (typeof value === 'object' && value !== null) {
    const members = value as Readonly<Record<string, unknown>>;
    const names = Object.keys(members).filter((name) => members[name] !== undefined);
    write('{');
    names.sort().forEach((name, at) => {
      write(`${at > 0 ? ',' : ''}${JSON.stringify(name)}:`);
      writeCanonical(members[name], write);
    });
    write('}');
  } else write(canonicalize(value) ?? 'null');
}
