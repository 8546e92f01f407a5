import type { Page, PageRequest, ReadScope, WorkspaceId } from '#libs/kernel';
import type { CountedTagKey, TagKey } from './tag-key';

/** The tag keys of a workspace. */
export abstract class TagKeyRepository {
  /** Returns null when the workspace already has the key. */
  abstract create(workspaceId: WorkspaceId, tagKey: Omit<TagKey, 'createdAt'>): Promise<TagKey | null>;

  /** Returns all keys, sorted by code points. */
  abstract list(workspaceId: WorkspaceId): Promise<TagKey[]>;

  /**
   * Returns one page of the keys, sorted by code points: all of them, or those that the platform manages or does not. Counts
   * and `totalCount` are exact, from one snapshot.
   */
  abstract page(scope: ReadScope, readOnly: boolean | undefined, page: PageRequest): Promise<Page<CountedTagKey>>;

  /**
   * Removes the key from every asset in batches and then deletes it. Can be repeated after an interruption. Each call records
   * the deletion once, with its first batch that changes something, so that an interrupted one is in the audit. Returns the
   * number of assets that it took the key from, or null when the workspace has no such key.
   */
  abstract delete(
    workspaceId: WorkspaceId,
    key: string,
    onProgress?: (assets: number) => void,
  ): Promise<{ readonly assets: number } | null>;
}
