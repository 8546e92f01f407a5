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
    const categories = [];
    for (const { key, displayLabel } of ASSET_CATEGORIES) {
      const [total, owned] = [await assets({ categoryKey: key }), await assets({ categoryKey: key, hasOwner: true })];
      categories.push({ key, label: displayLabel, total, owned, percent: percentOf(owned, total) ?? 0 });
    }
    const total = await computers({});
    const checks = [];
    for (const [place, key] of CHECKS.entries()) {
      const [failing, unknown] = [await computers({ failingAnyOf: [key] }), await computers({ unknownAnyOf: [key] })];
      const passing = total - failing - unknown;
      checks.push({
        key,
        label: CHECK_LABELS[place],
        passing,
        failing,
        unknown,
        percent: percentOf(passing, total) ?? 0,
      });
    }
    const sources = (await this.imports.sources(scope, { size: SOURCES, after: null })).items.map((one) => ({
      ...one,
      isStale: one.staleAfterSeconds !== null && ageOf(one.lastCompletedAt) > one.staleAfterSeconds,
    }));
    const runs = (await this.imports.latest({ workspaceId, source: null }, LAST_RUNS)).map(({ run }) => run);
    const trends = await this.trends.of(workspaceId);
    sendPage(response, 'overview', { title: 'Overview', categories, checks, computers: total, sources, runs, trends });
  }
}

const ageOf = (moment: Date | null): number => (moment ? (Date.now() - moment.getTime()) / 1_000 : Infinity);
