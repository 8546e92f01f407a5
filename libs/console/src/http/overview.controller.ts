import { Controller, Get, Res } from '@nestjs/common';
import { ImportRuns } from '#libs/inventory';
import { newestOf } from '#libs/kernel';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Access, Me } from './access.decorator';
import { sendPage } from './page';
import { Coverage } from './coverage';

const LAST_RUNS = 5;
const SOURCES = 50;

/** The state of the workspace at a glance. */
@Controller()
@Access('viewer')
export class OverviewController {
  constructor(
    private readonly coverage: Coverage,
    private readonly imports: ImportRuns,
  ) {}

  @Get()
  async show(@Me() { workspaceId }: SignedIn, @Res() response: Response): Promise<void> {
    const [now, trends, { items, totalCount }, latest] = await Promise.all([
      this.coverage.now(workspaceId),
      this.coverage.trends(workspaceId),
      this.imports.sources(newestOf(workspaceId), { size: SOURCES, after: null }),
      this.imports.latest({ workspaceId, source: null }, LAST_RUNS),
    ]);
    const sources = items.map((one) => ({
      ...one,
      isStale: one.staleAfterSeconds !== null && ageOf(one.lastCompletedAt) > one.staleAfterSeconds,
    }));
    const runs = latest.map(({ run }) => run);
    sendPage(response, 'overview', { title: 'Overview', ...now, sources, sourceCount: totalCount, runs, trends });
  }
}

const ageOf = (moment: Date | null): number => (moment ? (Date.now() - moment.getTime()) / 1_000 : Infinity);
