import { BENCHMARKS } from './benchmarks';
import { type BenchmarkName, CATALOGUE } from './catalogue';
import { Cluster } from './cluster';
import { printMeasurements } from './findings';
import { machine } from './machine';
import type { Recorded, Recording } from './recording';
import type { Sizes } from './sizes';

/** Runs benchmarks one after the other on one Postgres and one Redis. Hands what it has to `keep` after each. */
export async function runBenchmarks(
  names: readonly BenchmarkName[],
  sizes: Sizes,
  say: (line: string) => void,
  keep: (recording: Recording) => void,
): Promise<Recording> {
  const benchmarks: Partial<Record<BenchmarkName, Recorded>> = {};
  const recording = { machine: machine(), benchmarks };
  const since = Date.now();
  await Cluster.during(say, async (cluster) => {
    for (const [index, name] of names.entries()) {
      say(`\n[${index + 1}/${names.length}, ${minutes(Date.now() - since)}] ${name}: ${CATALOGUE[name]}`);
      const findings = await BENCHMARKS[name]({ cluster, sizes, say });
      benchmarks[name] = { size: sizes.name, ...findings };
      printMeasurements(findings.measurements, say);
      keep(recording);
    }
  });
  say(`\nDone in ${minutes(Date.now() - since)}.`);
  return recording;
}

const minutes = (milliseconds: number): string =>
  `${Math.floor(milliseconds / 60_000)} min ${Math.floor(milliseconds / 1_000) % 60} s`;
