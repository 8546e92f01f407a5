import { ApiProperty } from '@nestjs/swagger';

export class HealthDto {
  @ApiProperty({ enum: ['ok'], description: 'Always `ok` while the service serves requests.' })
  status!: 'ok';

  @ApiProperty({ example: '1.0.0', description: 'Public API version.' })
  version!: string;
}
