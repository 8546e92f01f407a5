import { example } from '#libs/platform/openapi';
import { BUCKET } from '../../assets/http/asset.dto';
import type { AssetChangePageDto } from './asset-change.dto';

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
