import { CHECKS, toComputerDayDto } from '#libs/computers';
import { ASSET_CATEGORIES, toAssetDayDto } from '#libs/inventory';
import { type ChartPoint, lineChart } from '#libs/platform/charts';
import type { CountedDay } from '#libs/platform/changes';
import { CHECK_LABELS } from '../domain/check-labels';

const FRAME = { width: 300, height: 130, most: 100, unit: '%' };

const NOTHING = { withOwner: 0, total: 0 };

/** Counts assets with an owner, by category. */
export function categoriesOf(day: CountedDay) {
  const { categories } = toAssetDayDto(day);
  return ASSET_CATEGORIES.map(({ key, displayLabel: label }) => {
    const { withOwner: owned, total } = categories.find(({ categoryKey }) => categoryKey === key) ?? NOTHING;
    return { key, label, total, owned, percent: percentOf(owned, total) };
  });
}

/** Employees have no owner. */
export const ownedOf = (day: CountedDay) => categoriesOf(day).filter(({ key }) => key !== 'EMPLOYEE');

/** Counts computers that pass, by check. */
export function checksOf(day: CountedDay) {
  const { total, checks } = toComputerDayDto(day);
  return CHECKS.map((key, place) => {
    const percent = percentOf(checks[key].passing, total);
    return { key, label: CHECK_LABELS[place] as string, ...checks[key], percent };
  });
}

/** Shares by day, null where there was nothing: a picture of each, and all of them as a table, the newest day first. */
export function trendOf(what: string, days: readonly CountedDay[], sharesOf: typeof ownedOf | typeof checksOf) {
  const rows = days.map((counted) => ({ day: counted.date, shares: sharesOf(counted) }));
  const labels = rows[0]?.shares.map(({ label }) => label) ?? [];
  const charts = labels.flatMap((label, place) => {
    const points = rows.flatMap(({ day, shares }): ChartPoint[] => {
      const value = shares[place]?.percent ?? null;
      return value === null ? [] : [{ day, value }];
    });
    const last = points.at(-1);
    return last ? [lineChart(`${label}: ${last.value} % ${what}`, points, FRAME)] : [];
  });
  return { charts, labels, rows: rows.reverse() };
}

/** Rounds down, so that 100 % means all. */
const percentOf = (part: number, total: number): number | null =>
  total === 0 ? null : Math.floor((part * 100) / total);
