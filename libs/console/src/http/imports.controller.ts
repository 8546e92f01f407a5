import { Controller, Get, NotFoundException, Param, Res } from '@nestjs/common';
import { ImportRuns } from '#libs/inventory';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Access, Me } from './access.decorator';
import { idOf } from './path-id';
import { sendPage } from './page';

const SHOWN_RUNS = 100;

@Controller('imports')
@Access('viewer')
export class ImportsController {
  constructor(private readonly runs: ImportRuns) {}

  @Get()
  async list(@Me() { workspaceId }: SignedIn, @Res() response: Response): Promise<void> {
    const runs = await this.runs.latest({ workspaceId, source: null }, SHOWN_RUNS);
    sendPage(response, 'imports', { title: 'Imports', runs: runs.map(({ run }) => run) });
  }

  @Get(':id')
  async show(
    @Me() { workspaceId }: SignedIn,
    @Param() { id }: { id: string },
    @Res() response: Response,
  ): Promise<void> {
    const found = await this.runs.find(idOf(id), workspaceId);
    if (!found) throw new NotFoundException();
    const { run, errors, warnings } = found;
    sendPage(response, 'import', { title: `Import of ${run.source}`, run, errorLines: errors, warnings });
  }
}
