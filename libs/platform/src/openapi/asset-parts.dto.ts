import { ApiProperty } from '@nestjs/swagger';
import { ApiObject } from './api-schema.decorator';

/** Here because two features show owners, and neither may import the other. */
@ApiObject({
  name: 'Owner',
  description: 'The owner, a visible employee. Null without an owner, and when the owner is no longer visible.',
  nullable: true,
})
export class OwnerDto {
  @ApiProperty({ format: 'uuid', description: 'Id of the employee.', example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12' })
  id!: string;

  @ApiProperty({ maxLength: 1000, description: 'Name of the employee.', example: 'Ada Okafor' })
  name!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: 2000,
    description: 'E-mail address of the employee (personal data); null when unknown.',
    example: 'ada@example.com',
  })
  email!: string | null;
}

/** The member of an item that `expand=owner` adds. */
export const EXPANDED_OWNER = { type: OwnerDto, required: false } as const;

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
