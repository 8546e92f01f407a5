import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { NoQueryDto } from '#libs/platform/input';
import { ApiProblems, ApiTextSuccess } from '#libs/platform/openapi';
import { CheckpointsService } from '../application/checkpoints.service';

const EXAMPLE = `api.example.com/audit/44e7f3cc-6757-4372-b47a-65e54cb11958
4711
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— api.example.com/audit/44e7f3cc-6757-4372-b47a-65e54cb11958 Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;

@ApiTags('Audit')
@Controller('v1/audit-events/checkpoint')
export class CheckpointController {
  constructor(private readonly checkpoints: CheckpointsService) {}

  @Get()
  @RequireScope('audit:read')
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @ApiOperation({
    operationId: 'getAuditCheckpoint',
    summary: 'Get a signed checkpoint of the audit',
    description:
      'Needs `audit:read` (or `all:read`). Returns the size and the root (RFC 9162) of the Merkle tree of the events, signed ' +
      'with a key of the key set (C2SP signed note). Keep it: whoever lists the events later finds any change below it. ' +
      'Events of the last seconds may not be in it yet.',
  })
  @ApiTextSuccess({
    description: 'A C2SP signed note (`tlog-checkpoint`): origin, tree size and root in base64, then the signature.',
    examples: { note: { summary: 'A checkpoint over 4,711 events', value: EXAMPLE } },
  })
  @ApiProblems('validation_failed')
  async get(@CurrentCaller() { workspaceId }: Caller, @Query() _query: NoQueryDto): Promise<string> {
    return this.checkpoints.get(workspaceId);
  }
}
