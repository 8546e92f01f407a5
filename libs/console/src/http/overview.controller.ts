import { Controller, Get, Res } from '@nestjs/common';
import { ImportRuns } from '#libs/inventory';
import { Clock, DAY_MS, newestOf } from '#libs/kernel';
import { type Counted, type CountedDay, DayCounts } from '#libs/platform/changes';
import type { Response } from 'express';
import { Access, Sent, type SentTo } from './access.decorator';
import { sendPage } from './page';
import { categoriesOf, checksOf, ownedOf, trendOf } from './coverage';

const DAYS = 90;
const LAST_RUNS = 5;
const SOURCES = 50;

/** The state of the workspace at a glance. */
@Controller()
@Access('viewer')
export class OverviewController {
  constructor(
    private readonly counts: DayCounts,
    private readonly clock: Clock,
    private readonly imports: ImportRuns,
  ) {}

  @Get()
  async show(@Sent() { me: { workspaceId } }: SentTo, @Res() response: Response): Promise<void> {
    const now = this.clock.now();
    const dayBefore = (days: number) => new Date(now - days * DAY_MS).toISOString().slice(0, 10);
    // The worker has counted the days that are over. Today's assets are counted already, computers once in an index.
    const written = (of: Counted) => this.counts.written(workspaceId, of, dayBefore(DAYS), dayBefore(1));
    const [[assets], [computers], assetDays, computerDays, sources, latest] = await Promise.all([
      this.counts.days(workspaceId, 'assets', {}),
      this.counts.days(workspaceId, 'computers', {}),
      written('assets'),
      written('computers'),
      this.imports.sources(newestOf(workspaceId), { size: SOURCES, after: null }),
      this.imports.latest({ workspaceId, source: null }, LAST_RUNS),
    ]);
    sendPage(response, 'overview', {
      ...{ title: 'Overview', now, sources, runs: latest.map(({ run }) => run) },
      ...{ categories: categoriesOf(assets as CountedDay), checks: checksOf(computers as CountedDay) },
      owners: trendOf('have an owner', assetDays, ownedOf),
      passes: trendOf('pass', computerDays, checksOf),
    });
  }
}
