import { example } from '#libs/platform/openapi';
import { type AssetPageDto, BUCKET, EMPLOYEE } from './asset.dto';
import type { AssetMetadataMergePatchDto, AssetMetadataPatchDto } from './asset-patch.dto';
import type { BulkUpdateDto, BulkUpdateMergePatchDto, BulkUpdateSummaryDto } from './bulk-update.dto';

export const ASSET_EXAMPLES = {
  cloud: { summary: 'A storage bucket', value: BUCKET },
  employee: { summary: 'An employee', value: EMPLOYEE },
};

export const ASSET_PAGE_EXAMPLES = {
  first: example<AssetPageDto>('A page with more to follow', {
    results: [BUCKET, EMPLOYEE],
    pageInfo: { hasNextPage: true, endCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU', totalCount: 128 },
  }),
  last: example<AssetPageDto>('The last page', {
    results: [EMPLOYEE],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: 128 },
  }),
};

export const ASSET_PATCH_EXAMPLES = {
  govern: example<AssetMetadataPatchDto>('Set owner, classification, description and the wanted set of customer tags', {
    ownerId: BUCKET.ownerId,
    classification: 'INTERNAL',
    description: BUCKET.description,
    tags: [{ key: 'env' }],
  }),
  byEmail: example<AssetMetadataPatchDto>('Set the owner by e-mail address', { ownerEmail: 'mei.tanaka@example.com' }),
  clear: example<AssetMetadataPatchDto>('Clear the description; null keeps the owner', {
    description: '',
    ownerId: null,
  }),
};

export const ASSET_MERGE_PATCH_EXAMPLES = {
  govern: ASSET_PATCH_EXAMPLES.govern,
  clear: example<AssetMetadataMergePatchDto>('Clear the description and the owner', {
    description: null,
    ownerId: null,
  }),
};

export const BULK_UPDATE_EXAMPLES = {
  classify: example<BulkUpdateDto>('Classify two assets', {
    ids: [BUCKET.id, '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13'],
    patch: { classification: 'CONFIDENTIAL' },
  }),
  differing: example<BulkUpdateDto>('Give two assets that have no owner one each', {
    updates: [
      { id: BUCKET.id, patch: { ownerEmail: 'mei.tanaka@example.com', tags: [{ key: 'env' }] } },
      { id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13', patch: { ownerId: EMPLOYEE.id } },
    ],
    onlyIf: { hasOwner: false },
  }),
  tried: example<BulkUpdateDto>('Try an update and write nothing', {
    ids: [BUCKET.id],
    patch: { ownerId: EMPLOYEE.id },
    dryRun: true,
  }),
};

export const BULK_MERGE_PATCH_EXAMPLES = {
  classify: BULK_UPDATE_EXAMPLES.classify,
  clear: example<BulkUpdateMergePatchDto>('Clear the owner of two assets', {
    ids: BULK_UPDATE_EXAMPLES.classify.value.ids,
    patch: { ownerId: null },
  }),
};

export const BULK_SUMMARY_EXAMPLES = {
  partly: example<BulkUpdateSummaryDto>('One asset updated, one not found', {
    successfulUpdates: 1,
    failedUpdates: 1,
    failures: [{ id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13', code: 'not_found', detail: 'No asset has this id.' }],
  }),
  tried: example<BulkUpdateSummaryDto>('Dry run: one asset would change', {
    successfulUpdates: 1,
    failedUpdates: 0,
    failures: [],
    changes: [{ id: BUCKET.id, fields: ['ownerId'] }],
  }),
};
