import { ApiProperty } from '@nestjs/swagger';
import { Flag } from '#libs/platform/input';
import { ApiObject, example } from '#libs/platform/openapi';
import { PageQueryDto, pageOf } from '#libs/platform/pagination';
import type { CountedTagKey } from '../domain/tag-key';

/** Query of the list of tag keys. */
export class TagKeyQueryDto extends PageQueryDto {
  @Flag({
    example: false,
    description: 'True: only keys that the platform manages. False: only keys that clients can set.',
  })
  readOnly?: boolean;
}

@ApiObject({ name: 'TagKey', description: 'A key for tags of the workspace.' })
export class TagKeyDto {
  @ApiProperty({ minLength: 1, maxLength: 1000, description: 'Tag key.', example: 'env' })
  key!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: 255,
    description:
      'Value of the tags with this key; null where the key has none. A tag of the platform may have its own.',
    example: 'production',
  })
  value!: string | null;

  @ApiProperty({ description: 'Whether the platform manages the key, so that clients cannot set it.', example: false })
  readOnly!: boolean;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Exact number of visible assets with the key.',
    example: 42,
  })
  assetCount!: number;
}

@ApiObject({ name: 'TagKeyPage', description: 'A page of tag keys.' })
export class TagKeyPageDto extends pageOf(TagKeyDto, 'The tag keys of the page.') {}

export const toTagKeyDto = ({ key, value, platform, assetCount }: CountedTagKey): TagKeyDto => ({
  key,
  value,
  readOnly: platform,
  assetCount,
});

export const TAG_KEY_PAGE_EXAMPLES = {
  two: example<TagKeyPageDto>('A key of the platform and one of the customer', {
    results: [
      { key: 'aws:stack', value: null, readOnly: true, assetCount: 1204 },
      { key: 'env', value: 'production', readOnly: false, assetCount: 42 },
    ],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: 2 },
  }),
};
