import type { RecordedEvent } from './audit-event';
import type { AuditFault } from './audit-event-check';
import type { AuditEvidence } from './audit-evidence.port';
import { type AuditTree, EMPTY_TREE, type TreeFrontier, appendLeaves } from './audit-tree';
import { publish } from './published-event';

/** Recomputes the Merkle tree of a workspace beside its chain, and compares the stored tree with it. */
export class TreeCheck {
  private frontier: TreeFrontier = EMPTY_TREE;

  constructor(
    private readonly evidence: AuditEvidence,
    private readonly stored: AuditTree | null,
  ) {}

  /** Takes the next event of the chain, whose link is right. Returns a fault of the tree that ends with it. */
  next(event: RecordedEvent, sequence: number, recordedAt: string | null): AuditFault | null {
    if (this.stored === null || sequence > this.stored.size) return null;
    if (recordedAt === null) return { sequence, reason: 'the event is in the tree and was never published' };
    const { treeHashes } = this.evidence;
    const leaf = treeHashes.leaf(publish(event, sequence, recordedAt));
    this.frontier = appendLeaves(this.frontier, [leaf], treeHashes);
    return sequence === this.stored.size ? this.fault(this.stored, event, sequence) : null;
  }

  private fault(stored: AuditTree, event: RecordedEvent, sequence: number): AuditFault | null {
    if (this.evidence.treeMac(stored) !== stored.mac) return { sequence, reason: 'the tree was altered' };
    const isThis = stored.link === event.link && stored.roots.join() === this.frontier.roots.join();
    return isThis ? null : { sequence, reason: 'the tree is not that of the events' };
  }
}
