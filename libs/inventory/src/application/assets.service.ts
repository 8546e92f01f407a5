import { Injectable } from '@nestjs/common';
import type { AssetId, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Asset } from '../domain/asset';
import { AssetNotFound, SubKeyInconsistent } from '../domain/asset-errors';
import { type AssetFilter, isConsistent } from '../domain/asset-filter';
import { AssetRepository } from '../domain/asset-repository.port';

@Injectable()
export class AssetsService {
  constructor(private readonly assets: AssetRepository) {}

  /** Throws `validation_failed` when `subKey` is not of the category named beside it. */
  async list(workspaceId: WorkspaceId, filter: AssetFilter, page: PageRequest): Promise<Page<Asset>> {
    if (!isConsistent(filter)) throw new SubKeyInconsistent();
    return this.assets.list(workspaceId, filter, page);
  }

  /** Throws `not_found`. */
  async get(workspaceId: WorkspaceId, id: AssetId): Promise<Asset> {
    const asset = await this.assets.find(workspaceId, id);
    if (!asset) throw new AssetNotFound();
    return asset;
  }
}
