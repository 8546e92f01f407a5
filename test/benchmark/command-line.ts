import { parseArgs } from 'node:util';
import { BENCHMARK_NAMES, type BenchmarkName, CATALOGUE, USUAL_BENCHMARKS } from './catalogue';
import { SIZES, type Sizes } from './sizes';
import { TARGETS, formatBound } from './targets';

const width = Math.max(...BENCHMARK_NAMES.map((name) => name.length));
const list = (lines: readonly (readonly [string, string])[]): string =>
  lines.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`).join('\n');

const HELP = `npm run bench -- [benchmark …] [--full | --smoke] [--check] [--report] [--rounds N]

Compares the service with the cheapest possible one. Starts its own Postgres and Redis, and removes them afterwards.
Most figures are ratios of two measurements that alternate in the same run.

Benchmarks (without a name, all of these run):
${list(USUAL_BENCHMARKS.map((name) => [name, CATALOGUE[name]]))}

Runs only when named. Installs another program once, outside the repository:
${list(BENCHMARK_NAMES.filter((name) => !USUAL_BENCHMARKS.includes(name)).map((name) => [name, CATALOGUE[name]]))}

  --full      the sizes of the targets: 1,000,000 assets, 10,000,000 for past, filters and streams, 100,000 workspaces.
              Takes some hours and 25 GB of disk. The default is 1,000,000 assets, in minutes
  --smoke     10,000 assets and one round, to show that everything runs. Its figures mean nothing
  --check     exit with 1 when a target of these benchmarks is missed
  --report    write results, tables and plots to docs/benchmarks/, replacing those of the same benchmarks
  --render    draw tables and plots of docs/benchmarks/ again, and measure nothing
  --rounds N  number of rounds of each measurement
  --help      show this text

Targets:
${Object.values(TARGETS)
  .map((target) => `  ${target.benchmark.padEnd(width)}  ${target.what}: ${formatBound(target)}`)
  .join('\n')}

Exit codes: 0 done (with --check: and no target was missed), 1 failed, 2 wrong usage.`;

export type Command =
  | { readonly say: string; readonly status: number }
  | {
      readonly benchmarks: readonly BenchmarkName[];
      readonly sizes: Sizes;
      readonly check: boolean;
      readonly report: boolean;
      readonly render: boolean;
    };

const OPTIONS = {
  full: { type: 'boolean', default: false },
  smoke: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  render: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

export function readCommandLine(words: string[]): Command {
  try {
    const { values, positionals } = parseArgs({ args: words, allowPositionals: true, options: OPTIONS });
    if (values.help) return { say: HELP, status: 0 };
    if (values.full && values.smoke) throw new Error('--full and --smoke exclude each other.');
    const { check, report, render } = values;
    if (values.smoke && report) throw new Error('--smoke measures nothing that could be recorded.');
    if (render && (check || report || positionals.length > 0)) throw new Error('--render measures nothing.');
    const sizes = SIZES[values.full ? 'full' : values.smoke ? 'smoke' : 'reduced'];
    const rounds = values.rounds === undefined ? {} : roundsOf(values.rounds);
    return { benchmarks: chosen(positionals), sizes: { ...sizes, ...rounds }, check, report, render };
  } catch (error) {
    return { say: `${(error as Error).message}\n\n${HELP}`, status: 2 };
  }
}

function roundsOf(text: string): Pick<Sizes, 'rounds' | 'longRounds'> {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1.');
  return { rounds, longRounds: rounds };
}

function chosen(names: readonly string[]): readonly BenchmarkName[] {
  const unknown = names.find((name) => !Object.hasOwn(CATALOGUE, name));
  if (unknown !== undefined) throw new Error(`There is no benchmark “${unknown}”.`);
  return names.length === 0 ? USUAL_BENCHMARKS : BENCHMARK_NAMES.filter((name) => names.includes(name));
}
