import { ApiProperty } from '@nestjs/swagger';
import { ApiObject } from '#libs/platform/openapi';

/** One schema in the contract with the tag of an asset, whose feature this one does not know. */
@ApiObject({ name: 'Tag', description: 'A tag of an asset or computer.' })
export class ComputerTagDto {
  @ApiProperty({ minLength: 1, maxLength: 1000, description: 'Tag key.', example: 'env' })
  key!: string;

  @ApiProperty({ maxLength: 255, description: 'Tag value; empty for a key without one.', example: 'production' })
  value!: string;

  @ApiProperty({ description: '`true` for platform-managed tags, which cannot be written.', example: false })
  readOnly!: boolean;
}
