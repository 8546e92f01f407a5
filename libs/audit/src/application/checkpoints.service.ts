import { DomainError, type WorkspaceId } from '#libs/kernel';
import type { AuditEvidence } from '../domain/audit-evidence.port';
import { EMPTY_TREE, rootOf } from '../domain/audit-tree';
import type { AuditTreeStore } from '../domain/audit-tree-store.port';
import type { CheckpointSigner } from '../domain/checkpoint-signer.port';

/** Gives customers signed statements about their audit. */
export class CheckpointsService {
  constructor(
    private readonly trees: AuditTreeStore,
    private readonly evidence: AuditEvidence,
    private readonly signer: CheckpointSigner,
  ) {}

  /**
   * Returns the signed note of the workspace's current tree.
   * @throws `service_unavailable` without a checkpoint key, or when the tree was altered
   */
  async get(workspaceId: WorkspaceId): Promise<string> {
    const tree = await this.trees.find(workspaceId);
    if (tree !== null && this.evidence.treeMac(tree) !== tree.mac) {
      throw new DomainError('service_unavailable', 'There is no checkpoint until the audit was checked.');
    }
    const { size, roots } = tree ?? EMPTY_TREE;
    return this.signer.sign(workspaceId, size, rootOf({ size, roots }, this.evidence.treeHashes));
  }
}
