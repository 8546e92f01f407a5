import { Transform } from 'class-transformer';
import { Choice, Flag, NestedList, ReadOnlyMembers, STORABLE, Text, Uuid } from '#libs/platform/input';
import { ApiObject } from '#libs/platform/openapi';
import { type Classification, MAX_DESCRIPTION_LENGTH } from '../domain/asset';
import { CLASSIFICATION } from './asset.dto';

/** Members that responses contain, and that clients may try to send back. */
const READABLE = [
  ...(['id', 'name', 'categoryKey', 'type', 'completeStatus', 'ownerSource', 'externalId', 'source'] as const),
  ...(['createdAt', 'updatedAt', 'lastCheckedAt', 'dataStored', 'accountId', 'region'] as const),
  ...(['serialNumber', 'osVersion', 'email'] as const),
];

/** A tag in a request. A customer tag can be sent as it was read: only the key counts. */
@ApiObject({
  name: 'TagRequest',
  description: 'A tag to set. You may send back a customer tag as you read it: only the key counts.',
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
export class GovernancePatchDto {
  @Choice({ nullable: true, list: CLASSIFICATION, description: 'Data classification.', example: 'INTERNAL' })
  classification?: Classification | null;

  @Text({
    nullable: true,
    pattern: STORABLE,
    maxLength: MAX_DESCRIPTION_LENGTH,
    description: `At most ${MAX_DESCRIPTION_LENGTH} Unicode code points; empty clears it.`,
    example: 'Access logs of the public website',
  })
  description?: string | null;

  @Uuid({
    nullable: true,
    description: 'A visible employee of the workspace; any other id is refused.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  })
  ownerId?: string | null;

  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))
  @Text({
    nullable: true,
    pattern: STORABLE,
    maxLength: 256,
    description:
      'Instead of `ownerId`: the e-mail address of the one visible employee who has it. Letter case and white space around it do not matter. An address of nobody, or of several, is refused.',
    example: 'mei.tanaka@example.com',
  })
  ownerEmail?: string | null;
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

/** The same members as a merge patch (RFC 7396). For the contract alone, because null has the opposite meaning there. */
@ApiObject({
  name: 'AssetMetadataMergePatch',
  description:
    'The fields to change as a merge patch (RFC 7396), each optional. A null clears a field; an absent field stays as it is. Any other field is refused. `{}` changes nothing.',
  additionalProperties: false,
})
export class AssetMetadataMergePatchDto extends AssetMetadataPatchDto {}
