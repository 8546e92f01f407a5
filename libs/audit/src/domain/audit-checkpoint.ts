import type { WorkspaceId } from '#libs/kernel';
import type { TreeFrontier } from './audit-tree';

/** A workspace's Merkle tree as one round left it. The MAC proves that an instance or an archive made it. */
export interface AuditCheckpoint extends TreeFrontier {
  readonly workspaceId: WorkspaceId;
  /** Id of the last event in the tree. */
  readonly lastEvent: string;
  /** When the events since the checkpoint before were sealed, ISO 8601. It never falls while trees grow. */
  readonly recordedAt: string;
  /** The events of this tree were archived, and are no longer stored. Only the first checkpoint can be a floor. */
  readonly isFloor: boolean;
  /** Hexadecimal. */
  readonly mac: string;
}
