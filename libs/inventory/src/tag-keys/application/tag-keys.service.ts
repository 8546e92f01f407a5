import { Injectable } from '@nestjs/common';
import type { Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { CountedTagKey, TagKey } from '../domain/tag-key';
import { TagKeyRepository } from '../domain/tag-key-repository.port';

@Injectable()
export class TagKeysService {
  constructor(private readonly tagKeys: TagKeyRepository) {}

  /** Returns null when the workspace already has the key. */
  async create(workspaceId: WorkspaceId, tagKey: Omit<TagKey, 'createdAt'>): Promise<TagKey | null> {
    return this.tagKeys.create(workspaceId, tagKey);
  }

  async list(workspaceId: WorkspaceId): Promise<TagKey[]> {
    return this.tagKeys.list(workspaceId);
  }

  /** Returns one page of the keys: all of them, or those that the platform manages or does not. */
  async page(
    workspaceId: WorkspaceId,
    platform: boolean | null,
    page: PageRequest,
    freshness: Freshness,
  ): Promise<Page<CountedTagKey>> {
    return this.tagKeys.page(workspaceId, platform, page, freshness);
  }

  /** Removes the key from every asset and deletes it. Returns null when the workspace has no such key. */
  async delete(
    workspaceId: WorkspaceId,
    key: string,
    onProgress: (assets: number) => void = () => undefined,
  ): Promise<{ readonly assets: number } | null> {
    return this.tagKeys.delete(workspaceId, key, onProgress);
  }
}
