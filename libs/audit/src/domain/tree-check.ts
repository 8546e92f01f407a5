import type { RecordedEvent } from './audit-event';
import type { AuditFault } from './audit-event-check';
import type { AuditEvidence } from './audit-evidence.port';
import { type AuditFloor, type AuditTree, type TreeFrontier, appendLeaves } from './audit-tree';
import { publish } from './published-event';

/** Recomputes the Merkle tree of a workspace beside its chain, and compares the stored tree with it. */
export class TreeCheck {
  /** `frontier` is the tree before the first stored event. */
  constructor(
    private readonly evidence: AuditEvidence,
    private readonly stored: AuditTree | null,
    private frontier: TreeFrontier,
  ) {}

  /** Returns a fault of the tree that ends at the floor. */
  atFloor({ size, link }: AuditFloor): AuditFault | null {
    return this.stored?.size === size ? this.fault(this.stored, { link }, size) : null;
  }

  /** Takes the next event of the chain, whose link is right. Returns a fault of the tree that ends with it. */
  next(event: RecordedEvent, sequence: number, recordedAt: string | null): AuditFault | null {
    if (this.stored === null || sequence > this.stored.size) return null;
    if (recordedAt === null) return { sequence, reason: 'the event is in the tree and was never published' };
    const { treeHashes } = this.evidence;
    const leaf = treeHashes.leaf(publish(event, sequence, recordedAt));
    this.frontier = appendLeaves(this.frontier, [leaf], treeHashes);
    return sequence === this.stored.size ? this.fault(this.stored, event, sequence) : null;
  }

  private fault(stored: AuditTree, event: Pick<RecordedEvent, 'link'>, sequence: number): AuditFault | null {
    if (this.evidence.treeMac(stored) !== stored.mac) return { sequence, reason: 'the tree was altered' };
    const isSame = stored.link === event.link && stored.roots.join() === this.frontier.roots.join();
    return isSame ? null : { sequence, reason: 'the tree is not that of the events' };
  }
}
