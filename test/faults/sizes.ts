/** `npm run test:faults` measures the promised figures; `npm test` does as much as fits into a minute. */
export const IS_LONG = process.env['FAULT_SIZES'] === 'long';

export function sized(sizes: { readonly short: number; readonly long: number }): number {
  return IS_LONG ? sizes.long : sizes.short;
}

export const MINUTE = 60_000;

/** No wait for a dependency exceeds five seconds (reliability). The rest is for a busy machine. */
export const RESPONSE_MS = 5_000 + 1_000;

/** Prints what a test has done, in the long form only. */
export function tell(what: string, figures: Readonly<Record<string, number | string>>): void {
  if (!IS_LONG) return;
  const told = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`);
  process.stderr.write(`  ${what}: ${told.join(', ')}\n`);
}
