import type { WorkspaceId } from '#libs/kernel';
import type { AnchoredEvent, StoredSeal } from './audit-event';
import { isRecordedInOrder } from './audit-chain';
import { type AuditFault, anchorStands, isAuthentic } from './audit-event-check';
import type { AuditEvidence } from './audit-evidence.port';
import type { AuditSnapshot } from './audit-snapshot.port';
import { EMPTY_TREE } from './audit-tree';
import { TreeCheck } from './tree-check';

/** Recomputes one workspace's chain and tree from the floor, or from their start. Compares all stored data with them. */
export class AuditCheck {
  private link: string;
  private readonly tree: TreeCheck;
  /** The chain is verified up to this position. */
  private last: number;
  /** When the events so far were recorded. Null once some are not published. */
  private recordedAt: string | null;

  /** `onEvent` is called for every event and may throw to stop. */
  constructor(
    private readonly evidence: AuditEvidence,
    workspaceId: WorkspaceId,
    private readonly snapshot: AuditSnapshot,
    private readonly onEvent: () => void,
  ) {
    const { floor, tree } = snapshot;
    this.link = floor?.link ?? evidence.chainStart(workspaceId);
    this.last = floor?.size ?? 0;
    this.recordedAt = floor?.recordedAt ?? '';
    this.tree = new TreeCheck(evidence, tree, floor ?? EMPTY_TREE);
  }

  /** Returns null when nothing is wrong. Checks sealed events first, in the order of the chain. */
  async firstFault(): Promise<AuditFault | null> {
    const floorFault = this.floorFault();
    if (floorFault) return floorFault;
    const seals = this.snapshot.seals();
    try {
      return (await this.sealedFault(seals)) ?? (await this.unsealedFault());
    } finally {
      await seals.return();
    }
  }

  /** Everything after it is checked from the floor on. */
  private floorFault(): AuditFault | null {
    const { floor, tree } = this.snapshot;
    if (floor === null) return null;
    const sequence = floor.size;
    if (this.evidence.floorMac(floor) !== floor.mac) return { sequence, reason: 'the floor was altered' };
    return tree === null || tree.size < sequence
      ? { sequence, reason: 'the tree ends before the events that are kept' }
      : this.tree.atFloor(floor);
  }

  private async sealedFault(seals: AsyncGenerator<StoredSeal, void>): Promise<AuditFault | null> {
    let seal: StoredSeal | null = null;
    for await (const event of this.snapshot.sealedEvents()) {
      this.onEvent();
      const sequence = this.last + 1;
      if (event.sequence !== sequence) return missing(sequence);
      if (seal === null || seal.lastSequence < sequence) {
        seal = (await seals.next()).value ?? null;
        const fault = this.sealFault(seal, sequence);
        if (fault) return fault;
      }
      const fault = this.eventFault(event, sequence);
      if (fault) return fault;
      if (seal?.lastSequence === sequence && seal.head !== this.link) {
        return { sequence, reason: 'the seal was made over another chain' };
      }
      const treeFault = this.tree.next(event, sequence, seal?.recordedAt ?? null);
      if (treeFault) return treeFault;
      this.last = sequence;
    }
    const rest = seal !== null && seal.lastSequence > this.last ? seal : (await seals.next()).value;
    return rest ? missing(this.last + 1) : this.endFault();
  }

  private sealFault(seal: StoredSeal | null, sequence: number): AuditFault | null {
    if (seal === null) return { sequence, reason: 'no seal covers the event' };
    if (this.evidence.sealMac(seal) !== seal.mac) return { sequence, reason: 'the seal that follows was altered' };
    if (seal.firstSequence !== sequence) return { sequence, reason: 'the seal of the event is missing' };
    return this.isRecordedInOrder(seal)
      ? null
      : { sequence, reason: 'the time of recording of the seal or of the one before was altered' };
  }

  /** Times of recording follow from the seals, and unpublished seals come last. */
  private isRecordedInOrder({ sealedAt, recordedAt }: StoredSeal): boolean {
    const before = this.recordedAt;
    this.recordedAt = recordedAt;
    if (recordedAt === null) return true;
    return before !== null && isRecordedInOrder(sealedAt, before, recordedAt);
  }

  private eventFault(event: AnchoredEvent, sequence: number): AuditFault | null {
    if (!isAuthentic(this.evidence, event)) {
      return { sequence, reason: 'the event was altered or forged: its MAC does not match' };
    }
    this.link = this.evidence.nextLink(this.link, sequence, event.mac);
    if (event.link !== this.link) return { sequence, reason: 'the event is not the one that was sealed in this place' };
    return anchorFault(event, sequence);
  }

  /** A truncated chain is consistent in itself. Only the separately stored head reveals the missing part. */
  private endFault(): AuditFault | null {
    const { head, sealedCount, floor } = this.snapshot;
    const next = this.last + 1;
    if (sealedCount !== this.last - (floor?.size ?? 0))
      return { sequence: next, reason: 'events stand outside the chain' };
    if (head === null) {
      return this.last === 0 && this.snapshot.tree === null
        ? null
        : { sequence: next, reason: 'the head is missing: the chain may have been cut here' };
    }
    if (this.evidence.headMac(head) !== head.mac) {
      return { sequence: next, reason: 'the head was altered: the chain may have been cut here' };
    }
    if (head.sequence > this.last) return missing(next);
    if (head.sequence < this.last) {
      return { sequence: head.sequence + 1, reason: 'the event is beyond the head of the chain' };
    }
    if (head.head !== this.link) return { sequence: this.last, reason: 'the head is that of another chain' };
    return (this.snapshot.tree?.size ?? 0) > this.last ? missing(next) : null;
  }

  private async unsealedFault(): Promise<AuditFault | null> {
    let counted = 0;
    for await (const event of this.snapshot.unsealedEvents()) {
      this.onEvent();
      counted += 1;
      if (!isAuthentic(this.evidence, event)) {
        return { sequence: null, reason: `the event ${event.id} was altered or forged: its MAC does not match` };
      }
      const fault = anchorFault(event, null);
      if (fault) return fault;
    }
    if (counted === this.snapshot.unsealedCount) return null;
    return {
      sequence: null,
      reason: `of ${this.snapshot.unsealedCount} unsealed events ${counted} could be looked at`,
    };
  }
}

/** The event names a sealed event that no longer exists: it was removed, or the chain was restarted. */
function anchorFault(event: AnchoredEvent, sequence: number | null): AuditFault | null {
  if (anchorStands(event)) return null;
  const place = event.anchor?.sequence ?? 0;
  return { sequence, reason: `the event ${event.id} was recorded after one that no longer stands in place ${place}` };
}

const missing = (sequence: number): AuditFault => ({ sequence, reason: 'the event is missing' });
