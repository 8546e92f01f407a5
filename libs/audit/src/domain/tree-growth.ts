import type { WorkspaceId } from '#libs/kernel';
import type { AuditSeal, RecordedEvent } from './audit-event';
import { isAuthentic } from './audit-event-check';
import type { AuditEvidence } from './audit-evidence.port';
import { type AuditTree, EMPTY_TREE, appendLeaves } from './audit-tree';
import { isRecordedInOrder } from './audit-chain';
import { publish } from './published-event';

/** A stored event of a published seal. */
export interface EventOfTree extends RecordedEvent {
  /** ISO 8601, UTC, milliseconds. */
  readonly recordedAt: string;
  /** When the seal before was recorded. Null before the first seal. */
  readonly recordedBefore: string | null;
  readonly seal: AuditSeal;
}

/** The tree, or the next event for it, was altered. A larger tree would vouch for the altered part. */
export class AuditTreeBroken extends Error {
  constructor(size: number) {
    super(`The tree does not grow beyond ${size} events; audit verify tells more.`);
    this.name = 'AuditTreeBroken';
  }
}

/**
 * Appends events to the workspace's tree, up to the first one that does not continue the chain. Expects at least one.
 * @throws {@link AuditTreeBroken} when the tree was altered, or the first event does not continue it
 */
export function growTree(
  evidence: AuditEvidence,
  workspaceId: WorkspaceId,
  before: AuditTree | null,
  events: readonly EventOfTree[],
): AuditTree {
  const { size, roots } = before ?? EMPTY_TREE;
  if (before !== null && evidence.treeMac(before) !== before.mac) throw new AuditTreeBroken(size);
  let link = before?.link ?? evidence.chainStart(workspaceId);
  const leaves: string[] = [];
  for (const event of events) {
    const sequence = size + leaves.length + 1;
    const next = evidence.nextLink(link, sequence, event.mac);
    if (event.sequence !== sequence || event.link !== next || !isAuthentic(evidence, event)) break;
    leaves.push(evidence.treeHashes.leaf(publish(event, sequence, event.recordedAt)));
    link = next;
  }
  if (leaves.length === 0) throw new AuditTreeBroken(size);
  const tree = { workspaceId, link, ...appendLeaves({ size, roots }, leaves, evidence.treeHashes) };
  return { ...tree, mac: evidence.treeMac(tree) };
}

/**
 * Returns the events up to the first one whose time of recording does not follow from its seal. Only the seal's own time
 * has a MAC, and a leaf that was signed can never be corrected.
 * @throws {@link AuditTreeBroken} when this is so for the first event
 */
export function recordedAsSealed(evidence: AuditEvidence, events: readonly EventOfTree[]): readonly EventOfTree[] {
  const wrong = events.findIndex(({ seal, recordedAt, recordedBefore }) => {
    return evidence.sealMac(seal) !== seal.mac || !isRecordedInOrder(seal.sealedAt, recordedBefore ?? '', recordedAt);
  });
  if (wrong === 0) throw new AuditTreeBroken((events[0]?.sequence ?? 1) - 1);
  return wrong === -1 ? events : events.slice(0, wrong);
}
