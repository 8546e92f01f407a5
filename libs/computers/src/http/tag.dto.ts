import { ApiProperty } from '@nestjs/swagger';
import { ApiObject } from '#libs/platform/openapi';

/** Shares the schema `Tag` of the contract with the inventory feature, which this feature must not import. */
@ApiObject({ name: 'Tag', description: 'A tag of an asset or computer.' })
export class ComputerTagDto {
  @ApiProperty({ minLength: 1, maxLength: 1000, description: 'Tag key.', example: 'env' })
  key!: string;

  @ApiProperty({ maxLength: 255, description: 'Tag value; empty for a key without one.', example: 'production' })
  value!: string;

  @ApiProperty({ description: '`true` for platform-managed tags, which cannot be written.', example: false })
  readOnly!: boolean;
}
