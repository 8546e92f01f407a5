import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiSuccess } from '../openapi/api-success.decorator';
import { ApiPublicProblems } from '../openapi/api-problems.decorator';
import { ApiObject, constant } from '../openapi/api-schema.decorator';
import { NoQueryDto } from '../input/input.pipe';
import { Public } from '../http/route-access';
import { API_VERSION } from '../config/service-version';

@ApiObject({ name: 'HealthDto', description: 'The API serves requests.' })
class HealthDto {
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

/** Liveness: responds as long as the instance serves requests. Checks no dependency. */
@ApiTags('Health')
@Public()
@Controller('v1/health')
export class HealthController {
  @Get()
  @ApiOperation({
    operationId: 'getHealth',
    summary: 'Check whether the API serves requests',
    description: 'Needs no token and has no rate limit. Use it to find out whether the API is reachable.',
  })
  @ApiSuccess(HealthDto, {
    description: 'The service serves requests.',
    examples: { ok: { summary: 'Serving', value: { status: 'ok', version: API_VERSION } } },
    charged: false,
  })
  @ApiPublicProblems('validation_failed')
  get(@Query() _query: NoQueryDto): HealthDto {
    return { status: 'ok', version: API_VERSION };
  }
}
