import { formatSpread } from './statistics';
import type { Measured } from './targets';

/** One figure of one variant, a value for each round. */
export interface Measurement {
  /** What is done: a path, a filter, an import. */
  readonly subject: string;
  /** Who does it: the API, the floor, a size. */
  readonly variant: string;
  readonly figure: string;
  readonly unit: string;
  readonly values: readonly number[];
}

/** What a benchmark gives. */
export interface Findings {
  readonly measurements: readonly Measurement[];
  readonly measured: Measured;
}

/** A line for each subject and variant. */
export function printMeasurements(measurements: readonly Measurement[], say: (line: string) => void): void {
  const lines = new Map<string, string[]>();
  for (const { subject, variant, figure, unit, values } of measurements) {
    const name = `${subject}, ${variant}`;
    lines.set(name, [...(lines.get(name) ?? []), `${figure} ${formatSpread(values)} ${unit}`.trimEnd()]);
  }
  for (const [name, figures] of lines) say(`  ${name}: ${figures.join('; ')}`);
}
