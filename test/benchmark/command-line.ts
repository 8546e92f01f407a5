import { parseArgs } from 'node:util';
import { BENCHMARK_NAMES, type BenchmarkName, CATALOGUE, USUAL_BENCHMARKS } from './catalogue';
import { SIZES, type Sizes } from './sizes';
import { TARGETS, formatBound } from './targets';

const width = Math.max(...BENCHMARK_NAMES.map((name) => name.length));
const list = (lines: readonly (readonly [string, string])[]): string =>
  lines.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`).join('\n');

const HELP = `npm run bench -- [benchmark …] [--full | --smoke] [--check] [--report] [--rounds N]

Measures what the service costs beside the least it could cost, on a Postgres and a Redis of its own, which are gone
afterwards. Nearly every figure is a ratio of two measurements of the same run, the variants taking turns.

Benchmarks (all of these unless some are named):
${list(USUAL_BENCHMARKS.map((name) => [name, CATALOGUE[name]]))}

Only when named, as it installs a program that the project does without, once and outside of the repository:
${list(BENCHMARK_NAMES.filter((name) => !USUAL_BENCHMARKS.includes(name)).map((name) => [name, CATALOGUE[name]]))}

  --full      the sizes that the targets name: 1,000,000 assets served and imported, filters to 10,000,000, 100,000
              workspaces; an hour or two and some 25 GB of disk. Otherwise 1,000,000 assets, in minutes
  --smoke     10,000 assets and one round: shows that everything runs; its figures mean nothing
  --check     exit with 1 unless every target of these benchmarks holds
  --report    write what was measured, with tables and plots, to docs/benchmarks/, in place of what is there of the same
              benchmarks
  --render    make the tables and plots again of what docs/benchmarks/ holds, and measure nothing
  --rounds N  rounds of each measurement instead of the usual number
  --help      this text

Targets:
${Object.values(TARGETS)
  .map((target) => `  ${target.benchmark.padEnd(width)}  ${target.what}: ${formatBound(target)}`)
  .join('\n')}

Exits with 0 when everything ran (with --check: and every target holds), 1 when something failed, 2 for wrong usage.`;

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
    const rounds = values.rounds === undefined ? sizes.rounds : roundsOf(values.rounds);
    return { benchmarks: chosen(positionals), sizes: { ...sizes, rounds }, check, report, render };
  } catch (error) {
    return { say: `${(error as Error).message}\n\n${HELP}`, status: 2 };
  }
}

function roundsOf(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1.');
  return rounds;
}

function chosen(names: readonly string[]): readonly BenchmarkName[] {
  const unknown = names.find((name) => !Object.hasOwn(CATALOGUE, name));
  if (unknown !== undefined) throw new Error(`There is no benchmark “${unknown}”.`);
  return names.length === 0 ? USUAL_BENCHMARKS : BENCHMARK_NAMES.filter((name) => names.includes(name));
}
