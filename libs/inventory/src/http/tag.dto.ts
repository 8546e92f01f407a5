import { ApiProperty } from '@nestjs/swagger';

export class TagDto {
  @ApiProperty({ maxLength: 1000, description: 'Tag key.' })
  key!: string;

  @ApiProperty({ maxLength: 255, description: 'Tag value; empty for a key without one.' })
  value!: string;

  @ApiProperty({ description: '`true` for platform-managed tags, which cannot be written.' })
  readOnly!: boolean;
}
