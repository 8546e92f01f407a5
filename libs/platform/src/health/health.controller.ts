import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../http/api-problems.decorator';
import { NoQueryDto } from '../http/no-query.dto';
import { Public } from '../http/route-access';
import { API_VERSION } from './api-version';
import { HealthDto } from './health.dto';

/** Liveness: answers as long as the process serves requests, and depends on nothing (decisions, section 8). */
@ApiTags('Health')
@Public()
@Controller('v1/health')
export class HealthController {
  @Get()
  @ApiOperation({ operationId: 'getHealth', summary: 'Tell whether the service serves requests' })
  @ApiOkResponse({ type: HealthDto })
  @ApiProblems('internal_error')
  get(@Query() _query: NoQueryDto): HealthDto {
    return { status: 'ok', version: API_VERSION };
  }
}
