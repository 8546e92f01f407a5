import type { Findings } from '../findings';
import { medianRatio } from '../statistics';
import type { TargetName } from '../targets';

export type Single = 'update' | 'bare update' | 'replay';
export type Bulk = 'bulk' | 'bare bulk' | 'differing bulk';
export type Variant = Single | Bulk;

/** Milliseconds of one request, and CPU milliseconds of client and API for it. */
export interface Cost {
  readonly elapsed: number;
  readonly client: number;
  readonly server: number;
}
export type Costs<Name extends Variant> = Readonly<Record<Name, Cost>>;
export type Round = Costs<Variant>;

const VARIANTS: readonly Variant[] = ['update', 'bare update', 'replay', 'bulk', 'bare bulk', 'differing bulk'];

const FIGURES: Readonly<Record<keyof Cost, string>> = {
  elapsed: 'time',
  client: 'CPU of the client',
  server: 'CPU of the API',
};

/** The compared variants of each target. */
const COMPARED: Readonly<Partial<Record<TargetName, readonly [Variant, Variant]>>> = {
  'update-bare': ['update', 'bare update'],
  'bulk-bare': ['bulk', 'bare bulk'],
  'bulk-differing': ['differing bulk', 'bulk'],
  'replay-first': ['replay', 'update'],
};

export function measurementsOf(subject: string, rounds: readonly Round[]): Findings['measurements'] {
  return VARIANTS.flatMap((variant) =>
    Object.entries(FIGURES).map(([part, figure]) => ({
      ...{ subject, variant, figure, unit: 'ms' },
      values: rounds.map((round) => round[variant][part as keyof Cost]),
    })),
  );
}

export function targetsOf(rounds: readonly Round[]): Findings['measured'] {
  const times = (variant: Variant): number[] => rounds.map((round) => round[variant].elapsed);
  return Object.fromEntries(
    Object.entries(COMPARED).map(([target, [of, to]]) => [target, medianRatio(times(of), times(to))]),
  );
}
