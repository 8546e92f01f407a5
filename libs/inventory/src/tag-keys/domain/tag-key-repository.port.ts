import type { WorkspaceId } from '#libs/kernel';
import type { TagKey } from './tag-key';

/** The tag keys of a workspace. */
export abstract class TagKeyRepository {
  /** Null when the workspace has the key already. */
  abstract create(workspaceId: WorkspaceId, tagKey: Omit<TagKey, 'createdAt'>): Promise<TagKey | null>;

  /** Every key by its code points. */
  abstract list(workspaceId: WorkspaceId): Promise<TagKey[]>;

  /**
   * Takes the key off every asset, a batch at a time, and then removes it; safe to run again when interrupted.
   * Gives the number of assets that carried it; null when the workspace has no such key.
   */
  abstract delete(
    workspaceId: WorkspaceId,
    key: string,
    onProgress: (assets: number) => void,
  ): Promise<{ readonly assets: number } | null>;
}
