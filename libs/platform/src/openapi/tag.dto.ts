import { ApiProperty } from '@nestjs/swagger';
import { ApiObject } from './api-schema.decorator';

/** Here because two features show tags, and neither may import the other. */
@ApiObject({ name: 'Tag', description: 'A tag of an asset or computer.' })
export class TagDto {
  @ApiProperty({ minLength: 1, maxLength: 1000, description: 'Tag key.', example: 'env' })
  key!: string;

  @ApiProperty({ maxLength: 255, description: 'Tag value; empty for a key without one.', example: 'production' })
  value!: string;

  @ApiProperty({ description: '`true` for platform-managed tags, which cannot be written.', example: false })
  readOnly!: boolean;
}

/** The tags of an asset or computer. */
export const TAGS = {
  type: [TagDto],
  'x-unbounded': 'The platform may manage any number of tags.',
  description: 'Sorted by the code points of the key; empty without tags.',
} as { type: [typeof TagDto] };
