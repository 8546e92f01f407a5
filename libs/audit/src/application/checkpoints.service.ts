import { DomainError, type WorkspaceId } from '#libs/kernel';
import type { AuditCheckpointStore } from '../domain/audit-checkpoint-store.port';
import type { AuditEvidence } from '../domain/audit-evidence.port';
import { EMPTY_TREE, rootOf } from '../domain/audit-tree';
import type { CheckpointSigner } from '../domain/checkpoint-signer.port';

/** Gives customers signed statements about their audit. */
export class CheckpointsService {
  constructor(
    private readonly checkpoints: AuditCheckpointStore,
    private readonly evidence: AuditEvidence,
    private readonly signer: CheckpointSigner,
  ) {}

  /**
   * Returns the signed note of the workspace's current tree.
   * @throws `service_unavailable` without a checkpoint key, or when the checkpoint was altered
   */
  async get(workspaceId: WorkspaceId): Promise<string> {
    const newest = await this.checkpoints.newest(workspaceId);
    if (newest !== null && this.evidence.checkpointMac(newest) !== newest.mac) {
      throw new DomainError('service_unavailable', 'There is no checkpoint until the audit was checked.');
    }
    const tree = newest ?? EMPTY_TREE;
    return this.signer.sign(workspaceId, tree.size, rootOf(tree, this.evidence.treeHashes));
  }
}
