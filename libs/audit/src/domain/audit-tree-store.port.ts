import type { WorkspaceId } from '#libs/kernel';
import type { AuditTree } from './audit-tree';
import type { EventOfTree } from './tree-growth';

/** Stores the Merkle tree of each workspace. */
export abstract class AuditTreeStore {
  /** Returns null before the first event. */
  abstract find(workspaceId: WorkspaceId): Promise<AuditTree | null>;

  /**
   * Adds the oldest published events that are not in the tree yet, at most `limit`, in the order of their sequence and in
   * one transaction. Returns the number of added events. Returns null at once while another instance works on this
   * workspace.
   */
  abstract growNext(
    workspaceId: WorkspaceId,
    limit: number,
    grow: (before: AuditTree | null, events: readonly EventOfTree[]) => AuditTree,
  ): Promise<number | null>;
}
