import type { BenchmarkName } from './catalogue';
import type { Findings } from './findings';
import type { Machine } from './machine';
import type { Sizes } from './sizes';
import { TARGETS, type Verdict, judge } from './targets';

/** What one benchmark gave, and in which size. */
export interface Recorded extends Findings {
  readonly size: Sizes['name'];
}

/** What was measured on one machine, as it is kept. */
export interface Recording {
  readonly machine: Machine;
  readonly benchmarks: Readonly<Partial<Record<BenchmarkName, Recorded>>>;
}

/** Every target, or those of the benchmarks that were run. */
export function verdictsOf({ benchmarks }: Recording, which: 'all' | 'run'): Verdict[] {
  const measured = Object.assign({}, ...Object.values(benchmarks).map((recorded) => recorded.measured)) as Record<
    string,
    number
  >;
  return judge(TARGETS, measured).filter(({ benchmark }) => which === 'all' || benchmarks[benchmark]);
}

/** The newer of each benchmark; of another machine nothing is kept, as figures of two machines say nothing together. */
export function merge(older: Recording | null, newer: Recording): Recording {
  const same = older !== null && JSON.stringify(older.machine) === JSON.stringify(newer.machine);
  return same ? { ...newer, benchmarks: { ...older.benchmarks, ...newer.benchmarks } } : newer;
}
