import { CHECKS, toComputerDayDto } from '#libs/computers';
import { ASSET_CATEGORIES, toAssetDayDto } from '#libs/inventory';
import { type ChartPoint, lineChart } from '#libs/platform/charts';
import type { CountedDay } from '#libs/platform/changes';

const FRAME = { width: 300, height: 130, most: 100, unit: '%' };

/** The checks of a computer as people call them, such as "Disk encryption". */
export const CHECK_LABELS = Object.fromEntries(
  CHECKS.map((check) => [check, check.charAt(0) + check.slice(1).toLowerCase().replace('_', ' ')]),
) as Readonly<Record<(typeof CHECKS)[number], string>>;

/** Counts assets with an owner, by category. */
export function categoriesOf(day: CountedDay) {
  return toAssetDayDto(day).categories.map(({ categoryKey: key, withOwner: owned, total }) => {
    const label = ASSET_CATEGORIES.find((category) => category.key === key)?.displayLabel ?? key;
    return { key, label, total, owned, percent: percentOf(owned, total) };
  });
}

/** Employees have no owner. */
export const ownedOf = (day: CountedDay) => categoriesOf(day).filter(({ key }) => key !== 'EMPLOYEE');

/** Counts computers that pass, by check. */
export function checksOf(day: CountedDay) {
  const { total, checks } = toComputerDayDto(day);
  return CHECKS.map((key) => {
    const percent = percentOf(checks[key].passing, total);
    return { key, label: CHECK_LABELS[key], ...checks[key], percent };
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
