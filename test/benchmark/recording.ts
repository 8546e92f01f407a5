import type { BenchmarkName } from './catalogue';
import type { Findings } from './findings';
import type { Machine } from './machine';
import type { Sizes } from './sizes';
import { TARGETS, type Verdict, judge } from './targets';

/** The result of one benchmark, and the size of its run. */
export interface Recorded extends Findings {
  readonly size: Sizes['name'];
}

/** Stored results of one machine. */
export interface Recording {
  readonly machine: Machine;
  readonly benchmarks: Readonly<Partial<Record<BenchmarkName, Recorded>>>;
}

/** Judges every target, or those of the benchmarks that were run. */
export function verdictsOf({ benchmarks }: Recording, which: 'all' | 'run'): Verdict[] {
  const measured = Object.assign({}, ...Object.values(benchmarks).map((recorded) => recorded.measured)) as Record<
    string,
    number
  >;
  return judge(TARGETS, measured).filter(({ benchmark }) => which === 'all' || benchmarks[benchmark]);
}

/**
 * Keeps the newer result of each benchmark. Drops results of another machine, because figures of two machines are not
 * comparable.
 */
export function merge(older: Recording | null, newer: Recording): Recording {
  const same = older !== null && JSON.stringify(older.machine) === JSON.stringify(newer.machine);
  return same ? { ...newer, benchmarks: { ...older.benchmarks, ...newer.benchmarks } } : newer;
}
