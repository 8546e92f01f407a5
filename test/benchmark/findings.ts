import { formatSpread } from './statistics';
import type { Measured } from './targets';

/** One figure of one variant, with a value for each round. */
export interface Measurement {
  /** The activity: a path, a filter, an import. */
  readonly subject: string;
  /** The tested implementation or size: the API, the floor, a size. */
  readonly variant: string;
  readonly figure: string;
  readonly unit: string;
  readonly values: readonly number[];
}

/** The result of a benchmark. */
export interface Findings {
  readonly measurements: readonly Measurement[];
  readonly measured: Measured;
}

/** Prints a line for each subject and variant. */
export function printMeasurements(measurements: readonly Measurement[], say: (line: string) => void): void {
  const lines = new Map<string, string[]>();
  for (const { subject, variant, figure, unit, values } of measurements) {
    const name = `${subject}, ${variant}`;
    lines.set(name, [...(lines.get(name) ?? []), `${figure} ${formatSpread(values)} ${unit}`.trimEnd()]);
  }
  for (const [name, figures] of lines) say(`  ${name}: ${figures.join('; ')}`);
}
