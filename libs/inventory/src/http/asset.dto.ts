import { ApiProperty } from '@nestjs/swagger';
import { PageInfoDto } from '#libs/platform';
import { type Asset, CLASSIFICATIONS, COMPLETE_STATUSES, OWNER_SOURCES, completeStatusOf } from '../domain/asset';
import { ASSET_TYPES, CATEGORY_KEYS, categoryOf } from '../domain/asset-category';
import { TagDto } from './tag.dto';

const ONLY = (category: string, what: string) =>
  ({ type: 'string', nullable: true, description: `${category} only: ${what}` }) as const;

export class DataStoredDto {
  @ApiProperty({ type: 'boolean', nullable: true })
  containsPatientData!: boolean | null;

  @ApiProperty({ type: 'boolean', nullable: true })
  containsUserData!: boolean | null;

  @ApiProperty({ type: 'string', nullable: true })
  userDataInfo!: string | null;
}

/** Specification, Asset. Members of another category, and unknown values, are null: shapes never vary. */
export class AssetDto {
  @ApiProperty({ format: 'uuid', description: 'Public asset id. For EMPLOYEE assets the employee UUID.' })
  id!: string;

  @ApiProperty({ description: 'Display name.' })
  name!: string;

  @ApiProperty({ enum: CATEGORY_KEYS })
  categoryKey!: string;

  @ApiProperty({ enum: ASSET_TYPES, description: 'Type within the category. New values may be added.' })
  type!: string;

  @ApiProperty({ enum: CLASSIFICATIONS, description: '`UNKNOWN` when nobody classified the asset.' })
  classification!: string;

  @ApiProperty({ enum: COMPLETE_STATUSES, description: '`COMPLETE` exactly when the asset has an owner.' })
  completeStatus!: string;

  @ApiProperty({ type: 'string', nullable: true, maxLength: 500, description: 'Governance description.' })
  description!: string | null;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, description: "Owner's employee UUID." })
  ownerId!: string | null;

  @ApiProperty({
    type: 'string',
    enum: [...OWNER_SOURCES, null],
    nullable: true,
    description: 'Origin of the owner assignment; null without an owner. New values may be added.',
  })
  ownerSource!: string | null;

  @ApiProperty({ description: 'Identifier of the asset in its source system.' })
  externalId!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Last compliance check.' })
  lastCheckedAt!: string | null;

  @ApiProperty({ type: [TagDto], description: 'Sorted by the code points of the key.' })
  tags!: readonly TagDto[];

  @ApiProperty({ type: DataStoredDto, nullable: true, description: 'INFORMATION and CUSTOM only.' })
  dataStored!: DataStoredDto | null;

  @ApiProperty(ONLY('CLOUD', 'cloud account id.'))
  accountId!: string | null;

  @ApiProperty(ONLY('CLOUD', 'region or location.'))
  region!: string | null;

  @ApiProperty(ONLY('COMPUTER', 'hardware serial number.'))
  serialNumber!: string | null;

  @ApiProperty(ONLY('COMPUTER', 'operating system family and version combined.'))
  osVersion!: string | null;

  @ApiProperty(ONLY('EMPLOYEE', "the employee's e-mail address (personal data)."))
  email!: string | null;
}

export class AssetPageDto {
  @ApiProperty({ type: [AssetDto] })
  results!: AssetDto[];

  @ApiProperty({ type: PageInfoDto })
  pageInfo!: PageInfoDto;
}

/** The asset as clients see it. */
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
    ownerSource: asset.ownerSource,
    externalId: asset.externalId,
    createdAt: asset.createdAt.toISOString(),
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

/** Family and version with one space between; what is known when only one is. */
function combinedOsVersion({ operatingSystem, osVersion }: Asset): string | null {
  return [operatingSystem, osVersion].filter((part) => part !== null && part !== '').join(' ') || null;
}
