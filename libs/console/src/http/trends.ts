import { Injectable } from '@nestjs/common';
import { CHECKS, COMPUTER_DAYS, toComputerDayDto } from '#libs/computers';
import { ASSET_CATEGORIES, ASSET_DAYS, toAssetDayDto } from '#libs/inventory';
import { Clock, type WorkspaceId } from '#libs/kernel';
import { type ChartPoint, lineChart } from '#libs/platform/charts';
import { DayCounts } from '#libs/platform/changes';
import { CHECK_LABELS } from './computers.controller';

const DAYS = 90;
const DAY_MS = 86_400_000;
const FRAME = { width: 300, height: 130, most: 100, unit: '%' };

/** Shares by day: a picture of each, and all of them as a table. */
export interface Trend {
  readonly charts: readonly string[];
  readonly labels: readonly string[];
  /** The newest day first. Null where there was nothing. */
  readonly rows: readonly { readonly day: string; readonly percents: readonly (number | null)[] }[];
}

const OWNED = ASSET_CATEGORIES.filter(({ key }) => key !== 'EMPLOYEE');
const NOTHING = { withOwner: 0, total: 0 };

/** The last ninety days that are over, as the worker has counted them. So it is fast, whatever the inventory holds. */
@Injectable()
export class Trends {
  constructor(
    private readonly counts: DayCounts,
    private readonly clock: Clock,
  ) {}

  async of(workspaceId: WorkspaceId): Promise<{ readonly owners: Trend; readonly checks: Trend }> {
    const dayBefore = (days: number) => new Date(this.clock.now() - days * DAY_MS).toISOString().slice(0, 10);
    const written = (of: typeof ASSET_DAYS) => this.counts.written(workspaceId, of, dayBefore(DAYS), dayBefore(1));
    const [assets, computers] = await Promise.all([written(ASSET_DAYS), written(COMPUTER_DAYS)]);
    const owners = assets.map(toAssetDayDto).map(({ date, categories }) => ({
      day: date,
      percents: OWNED.map(({ key }) => {
        const { withOwner, total } = categories.find(({ categoryKey }) => categoryKey === key) ?? NOTHING;
        return percentOf(withOwner, total);
      }),
    }));
    const checks = computers.map(toComputerDayDto).map(({ date, total, checks: by }) => ({
      day: date,
      percents: CHECKS.map((check) => percentOf(by[check].passing, total)),
    }));
    const categories = OWNED.map(({ displayLabel }) => displayLabel);
    return { owners: trendOf(categories, 'have an owner', owners), checks: trendOf(CHECK_LABELS, 'pass', checks) };
  }
}

function trendOf(labels: readonly string[], what: string, rows: Trend['rows']): Trend {
  const charts = labels.flatMap((label, place) => {
    const points = rows.flatMap(({ day, percents }): ChartPoint[] => {
      const value = percents[place] ?? null;
      return value === null ? [] : [{ day, value }];
    });
    const last = points.at(-1);
    return last ? [lineChart(`${label}: ${last.value} % ${what}`, points, FRAME)] : [];
  });
  return { charts, labels, rows: [...rows].reverse() };
}

/** Rounds down, so that 100 % means all. */
export const percentOf = (part: number, total: number): number | null =>
  total === 0 ? null : Math.floor((part * 100) / total);
