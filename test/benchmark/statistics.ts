export function median(values: readonly number[]): number {
  const sorted = [...values].sort((first, second) => first - second);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the smallest value that at least this share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((first, second) => first - second);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
});

/** Returns the median of the rounds' ratios: a slow round affects both of its parts. */
export function medianRatio(of: readonly number[], to: readonly number[]): number {
  if (of.length !== to.length) throw new Error(`${of.length} rounds cannot be held against ${to.length}.`);
  return median(of.map((value, round) => value / (to[round] as number)));
}

/** Formats three significant digits, two below one, and all digits of a whole number, with thousands separated. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value) || Math.abs(value) >= 1_000)
    return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
  if (Math.abs(value) < 0.1) return String(Number(value.toPrecision(2)));
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

/** Formats the median, the minimum and the maximum. */
export function formatSpread(values: readonly number[]): string {
  const { median: middle, least, most } = spreadOf(values);
  if (values.length < 2) return formatNumber(middle);
  return `${formatNumber(middle)} (${formatNumber(least)} to ${formatNumber(most)})`;
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}
