import type { WorkspaceId } from '#libs/kernel';
import type { AuditCheckpoint } from './audit-checkpoint';
import type { RecordedEvent } from './audit-event';
import type { AuditEvidence } from './audit-evidence.port';
import { EMPTY_TREE, appendLeaves } from './audit-tree';
import { publish } from './published-event';

/** The newest checkpoint was altered. A larger tree would vouch for the altered part. */
export class AuditCheckpointBroken extends Error {
  constructor(size: number) {
    super(`The checkpoint of ${size} events was altered; audit verify tells more.`);
    this.name = 'AuditCheckpointBroken';
  }
}

/** The next event was altered. Sealing it would vouch for it. */
export class AuditEventRefused extends Error {
  constructor(id: string) {
    super(`The event ${id} and those after it are not sealed; audit verify tells more.`);
    this.name = 'AuditEventRefused';
  }
}

/**
 * Gives events the next places in the audit, up to the first one that was altered, and returns the checkpoint that ends
 * with them. Expects at least one event, and `now` in milliseconds since 1970.
 * @throws {@link AuditCheckpointBroken}, and {@link AuditEventRefused} when the first event was altered
 */
export function sealBatch(
  evidence: AuditEvidence,
  workspaceId: WorkspaceId,
  before: AuditCheckpoint | null,
  events: readonly RecordedEvent[],
  now: number,
): AuditCheckpoint {
  if (before !== null && evidence.checkpointMac(before) !== before.mac) throw new AuditCheckpointBroken(before.size);
  const frontier = before ?? EMPTY_TREE;
  const time = new Date(now).toISOString();
  const recordedAt = before !== null && before.recordedAt > time ? before.recordedAt : time;
  const leaves: string[] = [];
  let lastEvent = '';
  for (const event of events) {
    const sequence = frontier.size + leaves.length + 1;
    // Release 1.0.0 numbered events without a tree. They keep their places.
    if ((event.sequence ?? sequence) !== sequence || !evidence.isAuthentic(event)) break;
    leaves.push(evidence.treeHashes.leaf(publish(event, sequence, recordedAt)));
    lastEvent = event.id;
  }
  if (leaves.length === 0) throw new AuditEventRefused(events[0]?.id ?? '');
  const tree = appendLeaves(frontier, leaves, evidence.treeHashes);
  const checkpoint = { workspaceId, ...tree, lastEvent, recordedAt, isFloor: false };
  return { ...checkpoint, mac: evidence.checkpointMac(checkpoint) };
}
