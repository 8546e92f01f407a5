import type { AuditCheckpoint } from './audit-checkpoint';
import type { RecordedEvent } from './audit-event';
import type { AuditEvidence } from './audit-evidence.port';
import { EMPTY_TREE, type TreeFrontier, appendLeaves } from './audit-tree';
import { publish } from './published-event';

/** The first fault in a workspace's audit. */
export interface AuditFault {
  /** Place in the audit. Null for an unsealed event. */
  readonly sequence: number | null;
  /** For people. */
  readonly reason: string;
}

export interface NumberedEvent extends RecordedEvent {
  readonly sequence: number;
}

/** One workspace's audit at one moment. */
export interface StoredAudit {
  /** Ordered by size. */
  checkpoints(): AsyncIterable<AuditCheckpoint>;

  /** Events with a sequence, ordered by it. */
  sealedEvents(): AsyncGenerator<NumberedEvent, void>;

  unsealedEvents(): AsyncIterable<RecordedEvent>;
}

/** Recomputes one workspace's MACs and tree from the floor, or from the first event. Compares every checkpoint with them. */
export class AuditCheck {
  private tree: TreeFrontier = EMPTY_TREE;
  /** Events are checked up to this place. */
  private last = 0;

  /** `onEvent` is called for every event and may throw to stop. */
  constructor(
    private readonly evidence: AuditEvidence,
    private readonly stored: StoredAudit,
    private readonly onEvent: () => void,
  ) {}

  /** Returns null when nothing is wrong. Checks sealed events first, in their order. */
  async firstFault(): Promise<AuditFault | null> {
    const events = this.stored.sealedEvents();
    for await (const checkpoint of this.stored.checkpoints()) {
      const fault = await this.checkpointFault(checkpoint, events);
      if (fault) return fault;
    }
    // Release 1.0.0 numbered events without checkpoints. They get one after the upgrade.
    for await (const event of events) {
      const fault = this.eventFault(event);
      if (fault) return fault;
    }
    for await (const event of this.stored.unsealedEvents()) {
      const fault = this.macFault(event);
      if (fault) return fault;
    }
    return null;
  }

  private async checkpointFault(
    checkpoint: AuditCheckpoint,
    events: AsyncGenerator<NumberedEvent, void>,
  ): Promise<AuditFault | null> {
    const { size, roots, recordedAt, isFloor } = checkpoint;
    const first = this.last + 1;
    if (this.evidence.checkpointMac(checkpoint) !== checkpoint.mac) {
      return { sequence: first, reason: 'the checkpoint that covers the event was altered' };
    }
    if (isFloor && this.last === 0) {
      [this.tree, this.last] = [checkpoint, size];
      return null;
    }
    const { treeHashes } = this.evidence;
    while (this.last < size) {
      const event = (await events.next()).value;
      const fault = event ? this.eventFault(event) : missing(this.last + 1);
      if (!event || fault) return fault;
      const leaf = treeHashes.leaf(publish(event, event.sequence, recordedAt));
      this.tree = appendLeaves(this.tree, [leaf], treeHashes);
    }
    return roots.join() === this.tree.roots.join()
      ? null
      : { sequence: first, reason: `the events ${first} to ${size} are not those of their checkpoint` };
  }

  private eventFault(event: NumberedEvent): AuditFault | null {
    this.last += 1;
    const { sequence } = event;
    if (sequence > this.last) return missing(this.last);
    return sequence < this.last
      ? { sequence, reason: 'the event stands in no place of the audit' }
      : this.macFault(event);
  }

  private macFault(event: RecordedEvent): AuditFault | null {
    this.onEvent();
    if (this.evidence.isAuthentic(event)) return null;
    return { sequence: event.sequence, reason: `the event ${event.id} was altered or forged: its MAC does not match` };
  }
}

const missing = (sequence: number): AuditFault => ({ sequence, reason: 'the event is missing' });
