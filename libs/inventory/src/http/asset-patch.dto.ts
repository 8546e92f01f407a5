import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { CLASSIFICATIONS } from '../domain/asset';

/** A tag as it is sent. What was read can be sent back: only the key counts. */
export class TagPatchDto {
  @ApiProperty({ maxLength: 1000, description: 'An existing customer-defined tag key.', example: 'env' })
  key!: string;

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    maxLength: 255,
    description: 'Ignored: values cannot change.',
  })
  value?: string | null;

  @ApiPropertyOptional({ type: 'boolean', nullable: true, description: 'Ignored.' })
  readOnly?: boolean | null;
}

/** Specification, PATCH /v1/inventory/assets/{id}: the governance fields, each optional. */
export class AssetMetadataPatchDto {
  @ApiPropertyOptional({ type: 'string', enum: [...CLASSIFICATIONS, null], nullable: true, example: 'INTERNAL' })
  classification?: string | null;

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    maxLength: 500,
    description: 'At most 500 Unicode code points; empty clears it.',
    example: 'Access logs of the public website',
  })
  description?: string | null;

  @ApiPropertyOptional({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'A visible employee of the workspace.',
  })
  ownerId?: string | null;

  @ApiPropertyOptional({
    type: [TagPatchDto],
    nullable: true,
    maxItems: 20,
    description:
      'The wanted set of customer tags: missing ones are added, others removed, tags of the platform stay. `[]` removes all.',
  })
  tags?: TagPatchDto[] | null;
}

/** Specification, bulk: the same patch for up to a hundred assets. */
export class BulkUpdateDto {
  @ApiProperty({ type: [String], format: 'uuid', minItems: 1, maxItems: 100, description: 'Assets to update.' })
  ids!: string[];

  @ApiProperty({ type: AssetMetadataPatchDto, description: 'Without `tags`, which must be absent or null.' })
  patch!: AssetMetadataPatchDto;
}

export class BulkUpdateFailureDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: ['not_found'], description: 'New values may be added.' })
  code!: string;

  @ApiProperty()
  detail!: string;
}

export class BulkUpdateSummaryDto {
  @ApiProperty({ type: 'integer', description: 'Distinct ids that were updated.' })
  successfulUpdates!: number;

  @ApiProperty({ type: 'integer', description: 'Distinct ids that were not.' })
  failedUpdates!: number;

  @ApiProperty({ type: [BulkUpdateFailureDto], description: 'One entry for each id that was not updated.' })
  failures!: BulkUpdateFailureDto[];
}
