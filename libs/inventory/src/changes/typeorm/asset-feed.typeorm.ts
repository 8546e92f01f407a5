import { Injectable } from '@nestjs/common';
import type { AssetId, Change, ChangePage, FeedStart, Freshness, WorkspaceId } from '#libs/kernel';
import { ChangeFeed, feedStatement } from '#libs/platform/changes';
import type { Asset } from '../../assets/domain/asset';
import { type CategoryKey, ASSET_TYPES, categoryOf } from '../../assets/domain/asset-category';
import { ASSET_COLUMN_LIST, subKeyOf, toAsset } from '../../assets/typeorm/asset.row';
import { AssetFeed } from '../domain/asset-feed.port';

const STATEMENT = feedStatement({ relation: 'asset', columns: ASSET_COLUMN_LIST, name: 'asset_feed_3' });

@Injectable()
export class AssetFeedTypeorm extends AssetFeed {
  constructor(private readonly feed: ChangeFeed) {
    super();
  }

  async read(
    workspaceId: WorkspaceId,
    categoryKey: CategoryKey | undefined,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Change<AssetId, Asset>>> {
    const types = ASSET_TYPES.filter((type) => categoryKey === undefined || categoryOf(type) === categoryKey);
    // The sub keys of a category stand side by side.
    const codes = types.map(subKeyOf);
    const subKeys = [Math.min(...codes), Math.max(...codes)] as const;
    const feed = { statement: STATEMENT, toItem: toAsset, subKeys };
    return this.feed.read(workspaceId, feed, start, size, freshness);
  }
}
