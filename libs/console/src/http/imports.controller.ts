import { Controller, Get, NotFoundException, Res } from '@nestjs/common';
import { ImportRuns } from '#libs/inventory';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Access, Me, Sent, type SentTo } from './access.decorator';
import { Names, authorText } from './names';
import { idOf } from './path-id';
import { sendPage } from './page';
import { Uploads } from './uploads';

const SHOWN_RUNS = 100;

@Controller('imports')
@Access('viewer')
export class ImportsController {
  constructor(
    private readonly runs: ImportRuns,
    private readonly uploads: Uploads,
    private readonly names: Names,
  ) {}

  @Get()
  async list(@Me() { workspaceId }: SignedIn, @Res() response: Response): Promise<void> {
    const found = await this.runs.latest({ workspaceId, source: null }, SHOWN_RUNS + 1);
    const runs = found.slice(0, SHOWN_RUNS).map(({ run }) => run);
    const hasMore = found.length > SHOWN_RUNS;
    sendPage(response, 'imports', { title: 'Imports', runs, hasMore, upload: this.uploads.of(workspaceId) });
  }

  @Get(':id')
  async show(@Sent() { me: { workspaceId }, id }: SentTo<'id'>, @Res() response: Response): Promise<void> {
    const found = await this.runs.find(idOf(id), workspaceId);
    if (!found) throw new NotFoundException();
    const { run, errors: errorLines, warnings } = found;
    const who = authorText(run.who, await this.names.of(workspaceId));
    sendPage(response, 'import', { title: `Import of ${run.source}`, run: { ...run, who }, errorLines, warnings });
  }
}
