import { judge, median, spread } from './statistics';

export type Single = 'update' | 'bare update' | 'replay';
export type Bulk = 'bulk' | 'bare bulk';
export type Variant = Single | Bulk;

/** Milliseconds that one of a variant takes, and those of CPU that the client and the application spend on it. */
export interface Cost {
  readonly elapsed: number;
  readonly client: number;
  readonly server: number;
}
export type Costs<Name extends Variant> = Readonly<Record<Name, Cost>>;
export type Round = Costs<Variant>;

/** What is held against what, and how many times as long it may take. */
const COMPARED: readonly (readonly [Variant, Variant, number])[] = [
  ['update', 'bare update', 2],
  ['bulk', 'bare bulk', 2],
  ['replay', 'update', 0.5],
];

function ratios(rounds: readonly Round[], variant: Variant, against: Variant): number[] {
  return rounds.map((round) => round[variant].elapsed / round[against].elapsed);
}

export function report(heading: string, rounds: readonly Round[]): void {
  console.log(`  ${heading}: median of each round's medians (least to most)`);
  for (const variant of ['update', 'bare update', 'replay', 'bulk', 'bare bulk'] as const) {
    const of = (part: keyof Cost): number[] => rounds.map((round) => round[variant][part]);
    const cpu = `${median(of('client')).toFixed(2)} ms of the client and ${median(of('server')).toFixed(2)} ms of the API`;
    console.log(`    ${variant}: ${spread(of('elapsed'))} ms; CPU: ${cpu}`);
  }
  for (const [variant, against] of COMPARED) {
    console.log(`    ${variant} against ${against}: ${spread(ratios(rounds, variant, against))}`);
  }
}

/** Gives the number of targets missed. */
export function judgeAll(rounds: readonly Round[]): number {
  return COMPARED.reduce((missed, [variant, against, atMost]) => {
    return missed + judge(`${variant} against ${against}`, median(ratios(rounds, variant, against)), { atMost });
  }, 0);
}
