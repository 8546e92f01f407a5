import { Injectable } from '@nestjs/common';
import { CHECKS, COMPUTER_DAYS, toComputerDayDto } from '#libs/computers';
import { ASSET_CATEGORIES, ASSET_DAYS, toAssetDayDto } from '#libs/inventory';
import { Clock, type WorkspaceId } from '#libs/kernel';
import { type ChartPoint, lineChart } from '#libs/platform/charts';
import { type CountedDay, DayCounts } from '#libs/platform/changes';
import { CHECK_LABELS } from './computers.controller';

const DAYS = 90;
const DAY_MS = 86_400_000;
const FRAME = { width: 300, height: 130, most: 100, unit: '%' };

/** Shares by day: a picture of each, and all of them as a table. */
interface Trend {
  readonly charts: readonly string[];
  readonly labels: readonly string[];
  /** The newest day first. Null where there was nothing. */
  readonly rows: readonly { readonly day: string; readonly percents: readonly (number | null)[] }[];
}

const OWNED = ASSET_CATEGORIES.filter(({ key }) => key !== 'EMPLOYEE');
const NOTHING = { withOwner: 0, total: 0 };

/** How many assets have an owner, and how many computers pass each check. */
@Injectable()
export class Coverage {
  constructor(
    private readonly counts: DayCounts,
    private readonly clock: Clock,
  ) {}

  /** The counts of now. Assets are counted already; computers are counted once, in an index by their posture. */
  async now(workspaceId: WorkspaceId) {
    const [[assets], [computers]] = await Promise.all([
      this.counts.days(workspaceId, ASSET_DAYS, {}),
      this.counts.days(workspaceId, COMPUTER_DAYS, {}),
    ]);
    const { categories } = toAssetDayDto(assets as CountedDay);
    const { total, checks } = toComputerDayDto(computers as CountedDay);
    return {
      categories: ASSET_CATEGORIES.map(({ key, displayLabel: label }) => {
        const { withOwner, total: all } = categories.find(({ categoryKey }) => categoryKey === key) ?? NOTHING;
        return { key, label, total: all, owned: withOwner, percent: percentOf(withOwner, all) ?? 0 };
      }),
      checks: CHECKS.map((key, place) => {
        const percent = percentOf(checks[key].passing, total) ?? 0;
        return { key, label: CHECK_LABELS[place], ...checks[key], percent };
      }),
    };
  }

  /** The last ninety days that are over, as the worker has counted them. So it is fast, whatever the inventory holds. */
  async trends(workspaceId: WorkspaceId): Promise<{ readonly owners: Trend; readonly checks: Trend }> {
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
const percentOf = (part: number, total: number): number | null =>
  total === 0 ? null : Math.floor((part * 100) / total);
