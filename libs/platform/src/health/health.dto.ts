import { ApiProperty } from '@nestjs/swagger';
import { ApiObject, constant } from '../openapi/api-schema.decorator';

@ApiObject({ name: 'HealthDto', description: 'The API serves requests.' })
export class HealthDto {
  @ApiProperty({
    ...constant('ok'),
    description: 'Always `ok` while the service serves requests.',
  })
  status!: 'ok';

  @ApiProperty({
    pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
    maxLength: 32,
    description: 'Public API version.',
    example: '1.0.0',
  })
  version!: string;
}
