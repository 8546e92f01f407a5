import type { WorkspaceId } from '#libs/kernel';

/** Signs checkpoints in the name of this service. */
export abstract class CheckpointSigner {
  /**
   * Returns the signed note of a workspace's tree, with `root` in hexadecimal.
   * @throws `service_unavailable` without a checkpoint key
   */
  abstract sign(workspaceId: WorkspaceId, size: number, root: string): string;
}
