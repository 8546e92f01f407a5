import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import type { TagKey } from '../domain/tag-key';
import { TagKeyRepository } from '../domain/tag-key-repository.port';

@Injectable()
export class TagKeysService {
  constructor(private readonly tagKeys: TagKeyRepository) {}

  /** Null when the workspace has the key already. */
  async create(workspaceId: WorkspaceId, tagKey: Omit<TagKey, 'createdAt'>): Promise<TagKey | null> {
    return this.tagKeys.create(workspaceId, tagKey);
  }

  async list(workspaceId: WorkspaceId): Promise<TagKey[]> {
    return this.tagKeys.list(workspaceId);
  }

  /** Takes the key off every asset and removes it. Null when the workspace has no such key. */
  async delete(
    workspaceId: WorkspaceId,
    key: string,
    onProgress: (assets: number) => void = () => undefined,
  ): Promise<{ readonly assets: number } | null> {
    return this.tagKeys.delete(workspaceId, key, onProgress);
  }
}
