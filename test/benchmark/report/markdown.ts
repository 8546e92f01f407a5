import { BENCHMARK_NAMES, type BenchmarkName, CATALOGUE } from '../catalogue';
import type { Measurement } from '../findings';
import { type Recorded, type Recording, verdictsOf } from '../recording';
import { formatSpread } from '../statistics';
import { formatBound, formatMeasured } from '../targets';
import { plotsOf } from './plots';

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

/** Writes the report: the targets, then every figure of every benchmark. */
export function toMarkdown(recording: Recording): string {
  const { cores, processor, memoryGigabytes, system, node } = recording.machine;
  const sections = [
    '# Recorded benchmarks',
    'Written by `npm run bench -- --report` from [`results.json`](results.json); [benchmarks](../benchmarks.md) says what ' +
      'each measures. Figures are medians of the rounds, the least and the most in brackets.',
    `${cores} cores (${processor}), ${memoryGigabytes} GB, ${system}, Node ${node.slice(1)}.`,
    '## Targets',
    targetTable(recording),
    ...BENCHMARK_NAMES.flatMap((name) => section(name, recording.benchmarks[name])),
  ];
  return `${sections.join('\n\n')}\n`;
}

function targetTable(recording: Recording): string {
  const rows = verdictsOf(recording, 'all').map((verdict) => {
    const row = [verdict.what, formatMeasured(verdict), formatBound(verdict)];
    if (verdict.measured === null) return [...row, '', ''];
    return [...row, verdict.met ? 'met' : '**missed**', recording.benchmarks[verdict.benchmark]?.size ?? ''];
  });
  return table(['measured', 'result', 'target', '', 'size'], rows);
}

function section(name: BenchmarkName, recorded: Recorded | undefined): string[] {
  if (!recorded) return [];
  const { size, measurements } = recorded;
  const plots = plotsOf(name, measurements).map(({ title, file }) => `![${title}](${file})`);
  return [
    `## ${name}`,
    `${sentence(CATALOGUE[name])} Size: ${size}.`,
    ...plots,
    figuresTable(measurements.map(withPagesAsColumns)),
  ];
}

/** Moves a page such as the one of "10,000 assets, first page" into a column. Each filter then has a row for each size. */
function withPagesAsColumns(measurement: Measurement): Measurement {
  const { variant, figure } = measurement;
  const [, size, page] = /^(.+), (\w+ pages?)$/.exec(variant) ?? [];
  return size ? { ...measurement, variant: size, figure: `${figure} of the ${page}` } : measurement;
}

/** Writes a row for each subject and variant, with a column for each figure. */
function figuresTable(measurements: readonly Measurement[]): string {
  const columns = distinct(measurements.map(columnOf));
  const rows = distinct(measurements.map(rowOf)).map((row) => {
    const ofRow = measurements.filter((one) => rowOf(one) === row);
    const cells = columns.map((column) => {
      const found = ofRow.find((one) => columnOf(one) === column);
      return found ? formatSpread(found.values) : '';
    });
    const [first] = ofRow as [Measurement];
    return [first.subject, first.variant, ...cells];
  });
  return table(['', '', ...columns], rows);
}

const columnOf = ({ figure, unit }: Measurement): string => (unit === '' ? figure : `${figure}, ${unit}`);
const rowOf = ({ subject, variant }: Measurement): string => `${subject}\n${variant}`;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
