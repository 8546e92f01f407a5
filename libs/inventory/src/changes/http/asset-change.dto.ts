import { ApiProperty } from '@nestjs/swagger';
import type { Change } from '#libs/kernel';
import { ChangeDto, ChangeQueryDto, changePageOf, toChangeDto } from '#libs/platform/change-pages';
import { ApiObject } from '#libs/platform/openapi';
import { OneOf } from '#libs/platform/pagination';
import type { Asset } from '../../assets/domain/asset';
import { AssetDto, CATEGORY_KEY, toAssetDto } from '../../assets/http/asset.dto';

/** Query of the change feed of assets. There is no other filter: an asset could leave one unseen. */
export class AssetChangeQueryDto extends ChangeQueryDto {
  @OneOf({ list: CATEGORY_KEY, example: 'CLOUD', description: 'Only changes of assets of this category.' })
  categoryKey?: string;
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
