import { Controller, Get, Res } from '@nestjs/common';
import { CHECKS, ComputerDirectory } from '#libs/computers';
import { ASSET_CATEGORIES, AssetsService, ImportRuns } from '#libs/inventory';
import { newestOf } from '#libs/kernel';
import type { Response } from 'express';
import type { SignedIn } from '../domain/signed-in';
import { Access, Me } from './access.decorator';
import { CHECK_LABELS } from './computers.controller';
import { sendPage } from './page';
import { Trends, percentOf } from './trends';

/** A total needs no item, and the smallest page holds one. */
const TOTAL_ONLY = { size: 1, after: null } as const;
const LAST_RUNS = 5;
const SOURCES = 50;

/** The state of the workspace at a glance. Totals come from counters, so the page is as fast with a million assets. */
@Controller()
@Access('viewer')
export class OverviewController {
  constructor(
    private readonly assets: AssetsService,
    private readonly computers: ComputerDirectory,
    private readonly imports: ImportRuns,
    private readonly trends: Trends,
  ) {}

  @Get()
  async show(@Me() { workspaceId }: SignedIn, @Res() response: Response): Promise<void> {
    const scope = newestOf(workspaceId);
    const assets = async (filter: Parameters<AssetsService['list']>[1]) =>
      (await this.assets.list(scope, filter, TOTAL_ONLY)).totalCount;
    const computers = async (filter: Parameters<ComputerDirectory['list']>[1]) =>
      (await this.computers.list(scope, filter, TOTAL_ONLY)).totalCount;
    const ofCategory = async ({ key, displayLabel }: (typeof ASSET_CATEGORIES)[number]) => {
      const of = { categoryKey: key };
      const [total, owned] = await Promise.all([assets(of), assets({ ...of, hasOwner: true })]);
      return { key, label: displayLabel, total, owned, percent: percentOf(owned, total) ?? 0 };
    };
    const all = computers({});
    const ofCheck = async (key: (typeof CHECKS)[number], place: number) => {
      const found = [all, computers({ failingAnyOf: [key] }), computers({ unknownAnyOf: [key] })] as const;
      const [total, failing, unknown] = await Promise.all(found);
      const passing = total - failing - unknown;
      const percent = percentOf(passing, total) ?? 0;
      return { key, label: CHECK_LABELS[place], total, passing, failing, unknown, percent };
    };
    // The pool of the console bounds how many of them run at once.
    const [categories, checks, { items }, latest, trends] = await Promise.all([
      Promise.all(ASSET_CATEGORIES.map(ofCategory)),
      Promise.all(CHECKS.map(ofCheck)),
      this.imports.sources(scope, { size: SOURCES, after: null }),
      this.imports.latest({ workspaceId, source: null }, LAST_RUNS),
      this.trends.of(workspaceId),
    ]);
    const sources = items.map((one) => ({
      ...one,
      isStale: one.staleAfterSeconds !== null && ageOf(one.lastCompletedAt) > one.staleAfterSeconds,
    }));
    const runs = latest.map(({ run }) => run);
    sendPage(response, 'overview', { title: 'Overview', categories, checks, sources, runs, trends });
  }
}

const ageOf = (moment: Date | null): number => (moment ? (Date.now() - moment.getTime()) / 1_000 : Infinity);
