import { Controller, Get, Param, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { assetId } from '#libs/kernel';
import { ChangeQueryDto, DaysQueryDto, FeedPaging, toHistoryEntryDto } from '#libs/platform/change-pages';
import { DayCounts } from '#libs/platform/changes';
import { ApiSuccess, ApiProblems } from '#libs/platform/openapi';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { FindQueryDto, PageQueryDto, Paging } from '#libs/platform/pagination';
import {
  type StreamedList,
  type StreamedQuery,
  Streams,
  STREAM_DESCRIPTION,
  asksForStream,
  refuseInstantOfPage,
  streamOf,
} from '#libs/platform/streams';
import type { Response } from 'express';
import type { Computer } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';
import { ComputerChangePageDto, toComputerChangeDto } from './computer-change.dto';
import {
  COMPUTER_CHANGE_PAGE_EXAMPLES,
  COMPUTER_EXAMPLES,
  COMPUTER_HISTORY_EXAMPLES,
  COMPUTER_PAGE_EXAMPLES,
} from './computer-examples';
import { ComputerHistoryPageDto } from './computer-history.dto';
import { COMPUTER_SUMMARY_EXAMPLES, ComputerSummaryDto, toComputerDayDto } from './computer-summary.dto';
import { ComputerQueryDto } from './computer-query.dto';
import { ComputerDto, ComputerLineDto, ComputerPageDto, toComputerDto } from './computer.dto';

const RESOURCE = 'computers';
const FEED = 'computer-changes';
const COMPUTER_ID = {
  name: 'id',
  format: 'uuid',
  description: 'Id of the computer: 8-4-4-4-12 hexadecimal digits in either case.',
  example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c14',
} as const;

@ApiTags('Computers')
@Controller('v1/computers')
export class ComputersController {
  private readonly streamed: StreamedList<Computer, StreamedQuery<ComputerQueryDto>>;

  constructor(
    private readonly computers: ComputerDirectory,
    private readonly paging: Paging,
    private readonly feedPaging: FeedPaging,
    private readonly streams: Streams,
    private readonly counts: DayCounts,
  ) {
    this.streamed = {
      resource: RESOURCE,
      item: 'computer',
      feed: { resource: FEED, filters: [] },
      reader: async (workspaceId, filter, request) => computers.reader(workspaceId, filter, request),
      show: toComputerDto,
    };
  }

  /** Before the route of one computer, whose id `changes` would be. */
  @Get('changes')
  @RequireScope('computers:read')
  @ApiOperation({
    operationId: 'listComputerChanges',
    summary: 'Follow changes of computers',
    description:
      'Needs `computers:read` (or `all:read`). Returns the latest state of each changed computer, in the order of changes. Without ' +
      'a cursor every visible computer comes first. Store `resumeCursor` and send it as `pageCursor` next time.',
  })
  @ApiSuccess(ComputerChangePageDto, {
    description: 'A page of changes.',
    examples: COMPUTER_CHANGE_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'cursor_expired')
  async changes(
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ComputerChangePageDto> {
    const { workspaceId } = caller;
    const { start, size, texts } = this.feedPaging.request(workspaceId, FEED, query, response);
    // A list that the client reads next must not be older than the cursor.
    if (start.kind === 'now') await caller.readNewest();
    const page = await this.computers.changes(caller, start, size);
    return {
      results: page.changes.map(toComputerChangeDto),
      ...this.feedPaging.envelope(response, workspaceId, FEED, page, texts),
    };
  }

  /** Before the route of one computer, too. */
  @Get('summary')
  @RequireScope('computers:read')
  @ApiOperation({
    operationId: 'getComputerSummary',
    summary: 'Count computers by day',
    description:
      'Needs `computers:read` (or `all:read`). Returns counts of visible computers and of their checks for each day of the history from `from` to `to`; today alone without both.',
  })
  @ApiSuccess(ComputerSummaryDto, { description: 'The counts by day.', examples: COMPUTER_SUMMARY_EXAMPLES })
  @ApiProblems('validation_failed')
  async summary(
    @CurrentCaller() { workspaceId }: Caller,
    @Query() query: DaysQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ComputerSummaryDto> {
    response.vary('Accept-Encoding');
    const days = await this.counts.days(workspaceId, 'computers', query);
    return { results: days.map(toComputerDayDto) };
  }

  @Get()
  @RequireScope('computers:read', 'inventory:read')
  @ApiOperation({
    operationId: 'listComputers',
    summary: 'List computers with their posture',
    description: `Needs \`computers:read\` (or \`all:read\`), and with \`expand\` also \`inventory:read\`. Returns every visible computer, monitored or not. All filters combine with AND. ${STREAM_DESCRIPTION}`,
  })
  @ApiSuccess(ComputerPageDto, {
    description: 'A page of computers.',
    examples: COMPUTER_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
    stream: streamOf(ComputerLineDto, { type: 'computer', computer: COMPUTER_EXAMPLES.laptop.value }),
    links: { getComputer: { id: '$response.body#/results/0/id' } },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'export_in_progress')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: ComputerQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ComputerPageDto | StreamableFile> {
    if (asksForStream(response)) return this.streams.begin(caller, query, response, this.streamed);
    refuseInstantOfPage(query);
    const { workspaceId } = caller;
    const { page, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const found = await this.computers.list(caller, filters, page, query.expand);
    return {
      results: found.items.map(toComputerDto),
      pageInfo: this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts),
    };
  }

  @Get(':id')
  @RequireScope('computers:read', 'inventory:read')
  @ApiOperation({
    operationId: 'getComputer',
    summary: 'Get one computer',
    description:
      'Needs `computers:read` (or `all:read`), and with `expand` also `inventory:read`. The id is the id of the COMPUTER asset.',
  })
  @ApiParam(COMPUTER_ID)
  @ApiSuccess(ComputerDto, {
    description: 'The computer.',
    examples: COMPUTER_EXAMPLES,
    links: { listComputerHistory: { id: '$response.body#/id' }, updateAsset: { id: '$response.body#/id' } },
  })
  @ApiProblems('validation_failed', 'not_found')
  async get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: FindQueryDto,
  ): Promise<ComputerDto> {
    return toComputerDto(await this.computers.get(caller, assetId(id), query));
  }

  @Get(':id/history')
  @RequireScope('computers:read')
  @ApiOperation({
    operationId: 'listComputerHistory',
    summary: 'List the states of one computer',
    description:
      'Needs `computers:read` (or `all:read`). Returns the states of the computer with its posture, newest first, each with who made it. Works for hidden and deleted computers too.',
  })
  @ApiParam(COMPUTER_ID)
  @ApiSuccess(ComputerHistoryPageDto, {
    description: 'A page of states.',
    examples: COMPUTER_HISTORY_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'not_found')
  async history(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ComputerHistoryPageDto> {
    const { workspaceId } = caller;
    // Each history has cursors of its own.
    const computer = assetId(id);
    const resource = `computer-states ${computer}`;
    const { page, texts } = this.paging.request(workspaceId, resource, query, response);
    const found = await this.computers.history(caller, computer, page);
    return {
      results: found.items.map((state) => toHistoryEntryDto(state, 'computer', toComputerDto)),
      pageInfo: this.paging.pageInfo(response, workspaceId, resource, found, texts),
    };
  }
}
