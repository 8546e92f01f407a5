import { ApiProperty } from '@nestjs/swagger';
import { HistoryEntryDto } from '#libs/platform/change-pages';
import { ApiObject, example } from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import { BUCKET } from '../../assets/http/asset.dto';
import { ChangedAssetDto } from '../../changes/http/asset-change.dto';

@ApiObject({ name: 'AssetHistoryEntry', description: 'One state of an asset.' })
export class AssetHistoryEntryDto extends HistoryEntryDto {
  @ApiProperty({ type: ChangedAssetDto })
  asset!: ChangedAssetDto | null;
}

@ApiObject({ name: 'AssetHistoryPage', description: 'A page of the states of an asset.' })
export class AssetHistoryPageDto extends pageOf(AssetHistoryEntryDto, 'The states, newest first.') {}

export const ASSET_HISTORY_EXAMPLES = {
  only: example<AssetHistoryPageDto>('An owner was set, and before that the asset was imported', {
    results: [
      {
        validFrom: '2026-11-02T08:00:00.123Z',
        validTo: null,
        origin: { type: 'API', clientId: 'ci_5f0c2e7d2a7c419a', requestId: '6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10' },
        changedFields: ['completeStatus', 'ownerId', 'ownerSource'],
        asset: BUCKET,
      },
      {
        validFrom: '2026-10-01T06:00:00.000Z',
        validTo: '2026-11-02T08:00:00.123Z',
        origin: { type: 'IMPORT' },
        changedFields: [],
        asset: { ...BUCKET, completeStatus: 'INCOMPLETE', ownerId: null, ownerSource: null },
      },
    ],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: 2 },
  }),
};
