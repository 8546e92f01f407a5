import { type AssetPageDto, BUCKET, EMPLOYEE } from './asset.dto';
import type {
  AssetMetadataMergePatchDto,
  AssetMetadataPatchDto,
  BulkUpdateDto,
  BulkUpdateMergePatchDto,
  BulkUpdateSummaryDto,
} from './asset-patch.dto';

export const ASSET_EXAMPLES = {
  cloud: { summary: 'A storage bucket', value: BUCKET },
  employee: { summary: 'An employee', value: EMPLOYEE },
};

export const ASSET_PAGE_EXAMPLES = {
  first: {
    summary: 'A page with more to follow',
    value: {
      results: [BUCKET, EMPLOYEE],
      pageInfo: { hasNextPage: true, endCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU', totalCount: 128 },
    } satisfies AssetPageDto,
  },
  last: {
    summary: 'The last page',
    value: {
      results: [EMPLOYEE],
      pageInfo: { hasNextPage: false, endCursor: null, totalCount: 128 },
    } satisfies AssetPageDto,
  },
};

export const ASSET_PATCH_EXAMPLES = {
  govern: {
    summary: 'Set owner, classification, description and the wanted set of customer tags',
    value: {
      ownerId: BUCKET.ownerId,
      classification: 'INTERNAL',
      description: BUCKET.description,
      tags: [{ key: 'env' }],
    } satisfies AssetMetadataPatchDto as AssetMetadataPatchDto,
  },
  clear: {
    summary: 'Clear the description; null keeps the owner',
    value: { description: '', ownerId: null } satisfies AssetMetadataPatchDto as AssetMetadataPatchDto,
  },
};

export const ASSET_MERGE_PATCH_EXAMPLES = {
  govern: ASSET_PATCH_EXAMPLES.govern,
  clear: {
    summary: 'Clear the description and the owner',
    value: { description: null, ownerId: null } satisfies AssetMetadataMergePatchDto as AssetMetadataMergePatchDto,
  },
};

export const BULK_UPDATE_EXAMPLES = {
  classify: {
    summary: 'Classify two assets',
    value: {
      ids: [BUCKET.id, '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13'],
      patch: { classification: 'CONFIDENTIAL' },
    } satisfies BulkUpdateDto as BulkUpdateDto,
  },
  tried: {
    summary: 'Try an update and write nothing',
    value: {
      ids: [BUCKET.id],
      patch: { ownerId: EMPLOYEE.id },
      dryRun: true,
    } satisfies BulkUpdateDto as BulkUpdateDto,
  },
};

export const BULK_MERGE_PATCH_EXAMPLES = {
  classify: BULK_UPDATE_EXAMPLES.classify,
  clear: {
    summary: 'Clear the owner of two assets',
    value: {
      ids: BULK_UPDATE_EXAMPLES.classify.value.ids,
      patch: { ownerId: null },
    } satisfies BulkUpdateMergePatchDto as BulkUpdateMergePatchDto,
  },
};

export const BULK_SUMMARY_EXAMPLES = {
  partly: {
    summary: 'One asset updated, one not found',
    value: {
      successfulUpdates: 1,
      failedUpdates: 1,
      failures: [{ id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13', code: 'not_found', detail: 'No asset has this id.' }],
    } satisfies BulkUpdateSummaryDto as BulkUpdateSummaryDto,
  },
  tried: {
    summary: 'Dry run: one asset would change',
    value: {
      successfulUpdates: 1,
      failedUpdates: 0,
      failures: [],
      changes: [{ id: BUCKET.id, fields: ['ownerId'] }],
    } satisfies BulkUpdateSummaryDto as BulkUpdateSummaryDto,
  },
};
