import { ApiProperty } from '@nestjs/swagger';
import type { Change } from '#libs/kernel';
import { ChangeDto, ChangeQueryDto, changePageOf, toChangeDto } from '#libs/platform/change-pages';
import { Choice } from '#libs/platform/input';
import { ApiObject, example } from '#libs/platform/openapi';
import type { Asset } from '../../assets/domain/asset';
import type { CategoryKey } from '../../assets/domain/asset-category';
import { AssetDto, BUCKET, CATEGORY_KEY, toAssetDto } from '../../assets/http/asset.dto';

/** Query of the change feed of assets. There is no other filter: an asset could leave one unseen. */
export class AssetChangeQueryDto extends ChangeQueryDto {
  @Choice({ list: CATEGORY_KEY, example: 'CLOUD', description: 'Only changes of assets of this category.' })
  categoryKey?: CategoryKey;
}

/** A reference to a schema cannot be null in OpenAPI 3.0, so this is one of its own. */
@ApiObject({ name: 'ChangedAsset', description: 'The asset as by id; null when it was removed.', nullable: true })
export class ChangedAssetDto extends AssetDto {}

@ApiObject({ name: 'AssetChange', description: 'The latest change of one asset.' })
export class AssetChangeDto extends ChangeDto {
  @ApiProperty({ type: ChangedAssetDto })
  asset!: ChangedAssetDto | null;
}

@ApiObject({ name: 'AssetChangePage', description: 'A page of changes of assets.' })
export class AssetChangePageDto extends changePageOf(AssetChangeDto) {}

export const toAssetChangeDto = (change: Change<string, Asset>): AssetChangeDto => ({
  ...toChangeDto(change),
  asset: change.item && toAssetDto(change.item),
});

export const ASSET_CHANGE_PAGE_EXAMPLES = {
  last: example<AssetChangePageDto>('An update and a removal, and nothing more for now', {
    results: [
      {
        type: 'UPSERTED',
        id: BUCKET.id,
        changedAt: '2026-11-02T08:00:00.000Z',
        origin: {
          type: 'API',
          clientId: 'ci_5f0c2e7d2a7c419a',
          requestId: '6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10',
        },
        asset: BUCKET,
      },
      {
        type: 'REMOVED',
        id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c19',
        changedAt: '2026-11-02T08:00:01.000Z',
        origin: { type: 'IMPORT' },
        asset: null,
      },
    ],
    pageInfo: { hasNextPage: false, endCursor: null },
    resumeCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU',
  }),
};
