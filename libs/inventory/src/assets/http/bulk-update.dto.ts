import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { Choice, NotBeside, Flag, Nested, NestedList, Refused, Uuid, Uuids } from '#libs/platform/input';
import { ApiObject, openEnum } from '#libs/platform/openapi';
import type { Classification } from '../domain/asset';
import { CLASSIFICATION } from './asset.dto';
import { AssetMetadataMergePatchDto, AssetMetadataPatchDto, GovernancePatchDto } from './asset-patch.dto';

@ApiObject({
  name: 'BulkPatch',
  nullable: true,
  description: 'The fields to change, without tags. A field that is absent or null stays as it is.',
  additionalProperties: false,
})
export class BulkPatchDto extends GovernancePatchDto {
  @Refused({
    reason: 'cannot be updated in bulk',
    description: 'Must be absent or null: tags cannot be updated in bulk.',
    example: null,
  })
  tags?: null;
}

@ApiObject({
  name: 'BulkMergePatch',
  nullable: true,
  description:
    'The fields to change as a merge patch (RFC 7396), without tags. A null clears a field; an absent field stays as it is.',
  additionalProperties: false,
})
export class BulkMergePatchDto extends BulkPatchDto {}

@ApiObject({ name: 'BulkEntry', description: 'One asset and its changes.', additionalProperties: false })
export class BulkEntryDto {
  @Uuid({
    required: true,
    description: 'Id of the asset to update. An id that is given twice is refused.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
  })
  id!: string;

  @Nested({ required: true, type: AssetMetadataPatchDto, description: 'The changes of this asset.' })
  patch!: AssetMetadataPatchDto;
}

@ApiObject({
  name: 'BulkMergeEntry',
  description: 'One asset and its changes as a merge patch.',
  additionalProperties: false,
})
export class BulkMergeEntryDto extends BulkEntryDto {
  @Nested({ required: true, type: AssetMetadataMergePatchDto, description: 'The changes of this asset.' })
  declare patch: AssetMetadataMergePatchDto;
}

@ApiObject({
  name: 'BulkCondition',
  nullable: true,
  description: 'What an asset must be like to be changed. A member that is absent or null sets no condition.',
  additionalProperties: false,
})
export class BulkConditionDto {
  @Flag({
    nullable: true,
    description: 'Whether an owner is set. An owner who is no longer a visible employee counts.',
    example: false,
  })
  hasOwner?: boolean | null;

  @Flag({ nullable: true, description: 'Whether there is a description.', example: false })
  hasDescription?: boolean | null;

  @Choice({ nullable: true, list: CLASSIFICATION, description: 'The classification.', example: 'UNKNOWN' })
  classification?: Classification | null;
}

const PATCH = {
  requiredWithout: 'updates',
  description: 'The change, the same for each asset. Required without `updates`.',
} as const;

const UPDATES = {
  nullable: true,
  minItems: 1,
  maxItems: 100,
  description: 'Instead of `ids` and `patch`: the assets to update, each with its own changes.',
} as const;

/** The same patch for up to a hundred assets, or one for each. */
@ApiObject({
  name: 'BulkUpdateRequest',
  description:
    'Changes of up to 100 assets: `ids` with one `patch` for all, or `updates` with a patch for each. A field that is null stays as it is. Any other field is refused.',
  additionalProperties: false,
})
export class BulkUpdateDto {
  @Uuids({
    nullable: true,
    requiredWithout: 'updates',
    minItems: 1,
    maxItems: 100,
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
    description: 'Ids of the assets to update. An id that is given twice counts once. Required without `updates`.',
  })
  ids?: string[] | null;

  @Nested({ ...PATCH, type: BulkPatchDto })
  patch?: BulkPatchDto | null;

  @NotBeside(['ids', 'patch'])
  @NestedList({ ...UPDATES, type: BulkEntryDto })
  updates?: BulkEntryDto[] | null;

  @Nested({
    type: BulkConditionDto,
    description:
      'An asset that does not match when it is locked stays as it is, and counts as failed with `condition_failed`.',
  })
  onlyIf?: BulkConditionDto | null;

  @Flag({
    nullable: true,
    description: 'True: checks the update and returns what would change, but writes nothing.',
    example: false,
  })
  dryRun?: boolean | null;
}

@ApiObject({
  name: 'BulkUpdateMergePatch',
  description:
    'Changes of up to 100 assets as merge patches (RFC 7396): `ids` with one `patch` for all, or `updates` with a patch for each. A null clears a field. Any other field is refused.',
  additionalProperties: false,
})
export class BulkUpdateMergePatchDto extends BulkUpdateDto {
  @Nested({ ...PATCH, type: BulkMergePatchDto })
  declare patch?: BulkMergePatchDto | null;

  @NotBeside(['ids', 'patch'])
  @NestedList({ ...UPDATES, type: BulkMergeEntryDto })
  declare updates?: BulkMergeEntryDto[] | null;
}

@ApiObject({ name: 'BulkUpdateFailure', description: 'An id whose asset was not updated.' })
export class BulkUpdateFailureDto {
  @ApiProperty({
    format: 'uuid',
    description: 'The id, in lower case.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c13',
  })
  id!: string;

  @ApiProperty(openEnum(['not_found', 'condition_failed'], 'The reason, for programs.'))
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
    items: openEnum(['classification', 'description', 'ownerId', 'tags'], 'A member of the asset.'),
    minItems: 1,
    maxItems: 16,
    description: 'Its members that would change.',
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
