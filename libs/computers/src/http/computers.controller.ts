import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '#libs/auth';
import { assetId } from '#libs/kernel';
import {
  ApiBearer,
  ApiProblems,
  BEARER_PROBLEMS,
  type Caller,
  CurrentCaller,
  NoQueryDto,
  PageQueryDto,
  Paging,
} from '#libs/platform';
import { ComputersService } from '../application/computers.service';
import { ComputerDto, ComputerPageDto, toComputerDto } from './computer.dto';

const RESOURCE = 'computers';

@ApiTags('Computers')
@ApiBearer()
@Controller('v1/computers')
export class ComputersController {
  constructor(
    private readonly computers: ComputersService,
    private readonly paging: Paging,
  ) {}

  @Get()
  @RequireScope('computers:read')
  @ApiOperation({
    operationId: 'listComputers',
    summary: 'List computers with their posture',
    description: 'Needs `computers:read` (or `all:read`). Every visible computer, monitored or not.',
  })
  @ApiOkResponse({ type: ComputerPageDto })
  @ApiProblems('validation_failed', 'invalid_cursor', ...BEARER_PROBLEMS)
  async list(@CurrentCaller() { workspaceId }: Caller, @Query() query: PageQueryDto): Promise<ComputerPageDto> {
    const { page, filters } = this.paging.request(workspaceId, RESOURCE, query);
    const found = await this.computers.list(workspaceId, page);
    return {
      results: found.items.map(toComputerDto),
      pageInfo: this.paging.pageInfo(workspaceId, RESOURCE, found, filters),
    };
  }

  @Get(':id')
  @RequireScope('computers:read')
  @ApiOperation({
    operationId: 'getComputer',
    summary: 'Get one computer',
    description: 'Needs `computers:read` (or `all:read`).',
  })
  @ApiParam({ name: 'id', format: 'uuid', description: 'Public computer id.' })
  @ApiOkResponse({ type: ComputerDto })
  @ApiProblems('validation_failed', 'not_found', ...BEARER_PROBLEMS)
  async get(
    @CurrentCaller() { workspaceId }: Caller,
    @Param('id') id: string,
    @Query() _query: NoQueryDto,
  ): Promise<ComputerDto> {
    return toComputerDto(await this.computers.get(workspaceId, assetId(id)));
  }
}
