import { ApiProperty } from '@nestjs/swagger';
import {
  ApiObject,
  EXPANDED_OWNER,
  OwnerDto,
  TAGS,
  TagDto,
  constant,
  namedEnum,
  openEnum,
} from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import {
  type Asset,
  CLASSIFICATIONS,
  COMPLETE_STATUSES,
  MAX_DESCRIPTION_LENGTH,
  OWNER_SOURCES,
  completeStatusOf,
} from '../domain/asset';
import { ASSET_TYPES, CATEGORY_KEYS, SUB_KEYS, categoryOf } from '../domain/asset-category';

export const CATEGORY_KEY = namedEnum('AssetCategoryKey', CATEGORY_KEYS, 'Key of a top-level category.');
export const SUB_KEY = namedEnum('AssetSubKey', SUB_KEYS, 'Sub-type of assets; `CLOUD` stands for every cloud asset.');
export const CLASSIFICATION = namedEnum('Classification', CLASSIFICATIONS, 'Data classification.');
export const COMPLETE_STATUS = namedEnum('CompleteStatus', COMPLETE_STATUSES, 'Whether the asset has an owner.');

/** Examples of an asset. The members of {@link AssetDto} show those of the first. */
export const BUCKET = {
  id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
  name: 'access-logs',
  categoryKey: 'CLOUD',
  type: 'CLOUD_STORAGE_BUCKET',
  classification: 'INTERNAL',
  completeStatus: 'COMPLETE',
  description: 'Access logs of the public website',
  ownerId: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  ownerSource: 'API',
  externalId: 'arn:aws:s3:::access-logs',
  source: 'aws',
  createdAt: '2026-01-02T03:04:05.000Z',
  updatedAt: '2026-11-02T08:00:00.000Z',
  lastCheckedAt: '2026-11-01T00:00:00.000Z',
  tags: [
    { key: 'aws:stack', value: 'web', readOnly: true },
    { key: 'env', value: 'production', readOnly: false },
  ],
  dataStored: null,
  accountId: '123456789012',
  region: 'eu-west-1',
  serialNumber: null,
  osVersion: null,
  email: null,
};

export const EMPLOYEE: AssetDto = {
  ...BUCKET,
  id: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  name: 'Ada Okafor',
  categoryKey: 'EMPLOYEE',
  type: 'EMPLOYEE',
  classification: 'UNKNOWN',
  completeStatus: 'INCOMPLETE',
  description: null,
  ownerId: null,
  ownerSource: null,
  externalId: 'hr-17',
  source: 'hr',
  lastCheckedAt: null,
  tags: [],
  accountId: null,
  region: null,
  email: 'ada@example.com',
};

/** Maximum length of a text in an import. */
const MAX_TEXT = 2000;
const only = (category: string, what: string, maxLength: number) =>
  ({
    type: 'string',
    nullable: true,
    maxLength,
    description: `${category} only: ${what} Null when unknown and for other categories.`,
    example: null,
  }) as const;
const KNOWN_OR_NOT = { type: 'boolean', nullable: true, example: true } as const;

@ApiObject({
  name: 'DataStored',
  description: 'The data that an INFORMATION or CUSTOM asset holds. Null when unknown and for other categories.',
  nullable: true,
})
export class DataStoredDto {
  @ApiProperty({ ...KNOWN_OR_NOT, description: 'Whether it holds data of patients; null when unknown.' })
  containsPatientData!: boolean | null;

  @ApiProperty({ ...KNOWN_OR_NOT, description: 'Whether it holds data of users; null when unknown.' })
  containsUserData!: boolean | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: MAX_TEXT,
    description: 'Free text on the data of users.',
    example: 'Names and dates of birth',
  })
  userDataInfo!: string | null;
}

/**
 * Specification, Asset. Members of other categories and unknown values are null, so every asset has the same members.
 */
@ApiObject({
  name: 'Asset',
  description:
    'An asset of the inventory. Every asset has every field; a field of another category, or an unknown value, is null.',
})
export class AssetDto {
  @ApiProperty({
    format: 'uuid',
    description: 'Id of the asset. For an EMPLOYEE asset, the id of the employee.',
    example: BUCKET.id,
  })
  id!: string;

  @ApiProperty({ maxLength: 1000, description: 'Display name.', example: BUCKET.name })
  name!: string;

  @ApiProperty({ ...CATEGORY_KEY, description: 'Top-level category.', example: BUCKET.categoryKey })
  categoryKey!: string;

  @ApiProperty(openEnum(ASSET_TYPES, 'Type within the category.'))
  type!: string;

  @ApiProperty({
    ...CLASSIFICATION,
    description: '`UNKNOWN` when nobody classified the asset.',
    example: BUCKET.classification,
  })
  classification!: string;

  @ApiProperty({
    ...COMPLETE_STATUS,
    description: '`COMPLETE` exactly when the asset has an owner.',
    example: BUCKET.completeStatus,
  })
  completeStatus!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: MAX_DESCRIPTION_LENGTH,
    description: 'Governance description; null when there is none.',
    example: BUCKET.description,
  })
  description!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'Id of the employee who owns the asset; null without an owner.',
    example: BUCKET.ownerId,
  })
  ownerId!: string | null;

  @ApiProperty(EXPANDED_OWNER)
  owner?: OwnerDto | null;

  @ApiProperty({ ...openEnum(OWNER_SOURCES, 'Origin of the owner assignment; null without an owner.'), nullable: true })
  ownerSource!: string | null;

  @ApiProperty({
    minLength: 1,
    maxLength: 2048,
    description: 'Identifier of the asset in its source system.',
    example: BUCKET.externalId,
  })
  externalId!: string;

  @ApiProperty({
    minLength: 1,
    maxLength: 100,
    description: 'Import source that `externalId` belongs to.',
    example: BUCKET.source,
  })
  source!: string;

  @ApiProperty({ format: 'date-time', description: 'Creation time, UTC.', example: BUCKET.createdAt })
  createdAt!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Last visible change, UTC. A check-in that moves only `lastCheckedAt` is none.',
    example: BUCKET.updatedAt,
  })
  updatedAt!: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Last compliance check, UTC; null when there was none.',
    example: BUCKET.lastCheckedAt,
  })
  lastCheckedAt!: string | null;

  @ApiProperty(TAGS)
  tags!: readonly TagDto[];

  @ApiProperty({ type: DataStoredDto })
  dataStored!: DataStoredDto | null;

  @ApiProperty(only('CLOUD', 'cloud account id.', MAX_TEXT))
  accountId!: string | null;

  @ApiProperty(only('CLOUD', 'region or location.', MAX_TEXT))
  region!: string | null;

  @ApiProperty(only('COMPUTER', 'hardware serial number.', MAX_TEXT))
  serialNumber!: string | null;

  @ApiProperty(only('COMPUTER', 'operating system family and version, one space between.', 2 * MAX_TEXT + 1))
  osVersion!: string | null;

  @ApiProperty(only('EMPLOYEE', "the employee's e-mail address (personal data).", MAX_TEXT))
  email!: string | null;
}

@ApiObject({ name: 'AssetPage', description: 'A page of assets.' })
export class AssetPageDto extends pageOf(AssetDto, 'The assets of the page.') {}

@ApiObject({ name: 'AssetLine', description: 'A line of a stream with an asset.' })
export class AssetLineDto {
  @ApiProperty({ ...constant('asset'), description: 'Type of the line.' })
  type!: string;

  @ApiProperty({ type: AssetDto, description: 'The asset.' })
  asset!: AssetDto;
}

/** Converts an asset to its response. */
export function toAssetDto(asset: Asset): AssetDto {
  const category = categoryOf(asset.type);
  const cloud = category === 'CLOUD';
  const computer = category === 'COMPUTER';
  const holdsData = category === 'INFORMATION' || category === 'CUSTOM';
  return {
    id: asset.id,
    name: asset.name,
    categoryKey: category,
    type: asset.type,
    classification: asset.classification,
    completeStatus: completeStatusOf(asset),
    description: asset.description,
    ownerId: asset.ownerId,
    owner: asset.owner,
    ownerSource: asset.ownerSource,
    externalId: asset.externalId,
    source: asset.source,
    createdAt: asset.createdAt.toISOString(),
    updatedAt: asset.updatedAt.toISOString(),
    lastCheckedAt: asset.lastCheckedAt?.toISOString() ?? null,
    tags: asset.tags,
    dataStored: holdsData ? asset.dataStored : null,
    accountId: cloud ? asset.accountId : null,
    region: cloud ? asset.region : null,
    serialNumber: computer ? asset.serialNumber : null,
    osVersion: computer ? combinedOsVersion(asset) : null,
    email: category === 'EMPLOYEE' ? asset.email : null,
  };
}

/** Joins family and version with one space. Returns the known one when the other is missing. */
function combinedOsVersion({ operatingSystem, osVersion }: Asset): string | null {
  return [operatingSystem, osVersion].filter((part) => part !== null && part !== '').join(' ') || null;
}
