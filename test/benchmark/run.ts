import type { Benchmark } from './benchmarks';
import { Cluster } from './cluster';
import { printMeasurements } from './findings';
import { machine } from './machine';
import type { Recorded, Recording } from './recording';
import type { Sizes } from './sizes';

/** Runs benchmarks one after the other on one Postgres and one Redis. */
export async function runBenchmarks(
  benchmarks: Readonly<Record<string, Benchmark>>,
  sizes: Sizes,
  say: (line: string) => void,
): Promise<Recording> {
  const names = Object.keys(benchmarks);
  const recorded: Record<string, Recorded> = {};
  const since = Date.now();
  await Cluster.during(say, async (cluster) => {
    for (const [index, [name, { what, run }]] of Object.entries(benchmarks).entries()) {
      say(`\n[${index + 1}/${names.length}, ${minutes(Date.now() - since)}] ${name}: ${what}`);
      recorded[name] = { size: sizes.name, ...(await run({ cluster, sizes, say })) };
      printMeasurements(recorded[name].measurements, say);
    }
  });
  say(`\nDone in ${minutes(Date.now() - since)}.`);
  return { machine: machine(), benchmarks: recorded };
}

const minutes = (milliseconds: number): string =>
  `${Math.floor(milliseconds / 60_000)} min ${Math.floor(milliseconds / 1_000) % 60} s`;
