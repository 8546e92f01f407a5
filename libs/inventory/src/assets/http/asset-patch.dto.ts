import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import {
  Choice,
  Flag,
  Nested,
  NestedList,
  ReadOnlyMembers,
  Refused,
  STORABLE,
  Text,
  Uuid,
  Uuids,
} from '#libs/platform/input';
import { ApiObject, openEnum } from '#libs/platform/openapi';
import type { Classification } from '../domain/asset';
import { CLASSIFICATION } from './asset.dto';

/** Members that responses contain, and that clients may try to send back. */
const READABLE = [
  ...(['id', 'name', 'categoryKey', 'type', 'completeStatus', 'ownerSource', 'externalId', 'source'] as const),
  ...(['createdAt', 'updatedAt', 'lastCheckedAt', 'dataStored', 'accountId', 'region'] as const),
  ...(['serialNumber', 'osVersion', 'email'] as const),
];

/** A tag in a request. Tags can be sent as they were read: only the key counts. */
@ApiObject({
  name: 'TagRequest',
  description: 'A tag to set. You may send back a tag as you read it: only the key counts.',
  additionalProperties: false,
})
export class TagPatchDto {
  @Text({
    pattern: STORABLE,
    required: true,
    maxLength: 1000,
    description: 'An existing customer-defined tag key; any other is refused.',
    example: 'env',
  })
  key!: string;

  @Text({
    nullable: true,
    pattern: STORABLE,
    maxLength: 255,
    description: 'Ignored: values cannot change.',
    example: 'production',
  })
  value?: string | null;

  @Flag({ nullable: true, description: 'Ignored.', example: false })
  readOnly?: boolean | null;
}

/** The governance fields that single and bulk updates share. */
@ReadOnlyMembers(READABLE)
class GovernancePatchDto {
  @Choice({ nullable: true, list: CLASSIFICATION, description: 'Data classification.', example: 'INTERNAL' })
  classification?: Classification | null;

  @Text({
    nullable: true,
    pattern: STORABLE,
    maxLength: 500,
    description: 'At most 500 Unicode code points; empty clears it.',
    example: 'Access logs of the public website',
  })
  description?: string | null;

  @Uuid({
    nullable: true,
    description: 'A visible employee of the workspace; any other id is refused.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  })
  ownerId?: string | null;
}

/** Specification, PATCH /v1/inventory/assets/{id}: the governance fields, each optional. */
@ApiObject({
  name: 'AssetMetadataPatchRequest',
  description:
    'The fields to change, each optional. A field that is absent or null stays as it is. Any other field is refused. `{}` changes nothing.',
  additionalProperties: false,
})
export class AssetMetadataPatchDto extends GovernancePatchDto {
  @NestedList({
    nullable: true,
    type: TagPatchDto,
    maxItems: 20,
    description:
      'The whole set of customer tags that you want. Missing tags are added, others are removed, tags of the platform stay. `[]` removes all customer tags.',
  })
  tags?: TagPatchDto[] | null;
}

/** The same members as a merge patch (RFC 7396). A separate schema, because null has the opposite meaning. */
@ApiObject({
  name: 'AssetMetadataMergePatch',
  description:
    'The fields to change as a merge patch (RFC 7396), each optional. A null clears a field; an absent field stays as it is. Any other field is refused. `{}` changes nothing.',
  additionalProperties: false,
})
export class AssetMetadataMergePatchDto extends AssetMetadataPatchDto {}

@ApiObject({
  name: 'BulkPatch',
  description: 'The fields to change, without tags. A field that is absent or null stays as it is.',
  additionalProperties: false,
})
export class BulkPatchDto extends GovernancePatchDto {
  @Refused({
    reason: 'cannot be updated in bulk.',
    description: 'Must be absent or null: tags cannot be updated in bulk.',
    example: null,
  })
  tags?: null;
}

@ApiObject({
  name: 'BulkMergePatch',
  description:
    'The fields to change as a merge patch (RFC 7396), without tags. A null clears a field; an absent field stays as it is.',
  additionalProperties: false,
})
export class BulkMergePatchDto extends BulkPatchDto {}

/** Specification, bulk: the same patch for up to a hundred assets. */
@ApiObject({
  name: 'BulkUpdateRequest',
  description: 'One patch for up to 100 assets. A field that is null stays as it is. Any other field is refused.',
  additionalProperties: false,
})
export class BulkUpdateDto {
  @Uuids({
    required: true,
    minItems: 1,
    maxItems: 100,
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
    description: 'Ids of the assets to update. An id that is given twice counts once.',
  })
  ids!: string[];

  @Nested({
    required: true,
    type: BulkPatchDto,
    description: 'The change, the same for each asset.',
  })
  patch!: BulkPatchDto;

  @Flag({
    nullable: true,
    description: 'True: checks the update and returns what would change, but writes nothing.',
    example: false,
  })
  dryRun?: boolean | null;
}

@ApiObject({
  name: 'BulkUpdateMergePatch',
  description: 'One merge patch (RFC 7396) for up to 100 assets. A null clears a field. Any other field is refused.',
  additionalProperties: false,
})
export class BulkUpdateMergePatchDto extends BulkUpdateDto {
  @Nested({
    required: true,
    type: BulkMergePatchDto,
    description: 'The change, the same for each asset.',
  })
  declare patch: BulkMergePatchDto;
}

@ApiObject({ name: 'BulkUpdateFailure', description: 'An id whose asset was not updated.' })
export class BulkUpdateFailureDto {
  @ApiProperty({
    format: 'uuid',
    description: 'The id, in lower case.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13',
  })
  id!: string;

  @ApiProperty(openEnum(['not_found'], 'The reason, for programs.'))
  code!: string;

  @ApiProperty({ maxLength: 1000, description: 'The reason, for people.', example: 'No asset has this id.' })
  detail!: string;
}

@ApiObject({ name: 'BulkUpdateChange', description: 'An asset that the update would change.' })
export class BulkUpdateChangeDto {
  @ApiProperty({
    format: 'uuid',
    description: 'The id, in lower case.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
  })
  id!: string;

  @ApiProperty({
    type: 'array',
    items: openEnum(['classification', 'description', 'ownerId'], 'A member of the patch.'),
    minItems: 1,
    maxItems: 16,
    description: 'The members of the patch that would change it.',
    example: ['ownerId'],
  })
  fields!: readonly string[];
}

const COUNT = { type: 'integer', minimum: 0, maximum: 100, example: 1 } as const;

@ApiObject({ name: 'BulkUpdateSummary', description: 'How many of the distinct ids were updated, and which were not.' })
export class BulkUpdateSummaryDto {
  @ApiProperty({ ...COUNT, description: 'Distinct ids that were updated.' })
  successfulUpdates!: number;

  @ApiProperty({ ...COUNT, description: 'Distinct ids that were not updated.' })
  failedUpdates!: number;

  @ApiProperty({
    type: [BulkUpdateFailureDto],
    maxItems: 100,
    description: 'One entry for each id that was not updated.',
  })
  failures!: BulkUpdateFailureDto[];

  @ApiPropertyOptional({
    type: [BulkUpdateChangeDto],
    maxItems: 100,
    description: 'Only of a dry run: one entry for each asset that would change.',
  })
  changes?: readonly BulkUpdateChangeDto[];
}
