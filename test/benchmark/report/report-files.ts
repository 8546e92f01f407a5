import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCHMARK_NAMES } from '../catalogue';
import { type Recording, merge } from '../recording';
import { toMarkdown } from './markdown';
import { plotsOf } from './plots';

const FOLDER = join(__dirname, '../../../docs/benchmarks');
const RESULTS = join(FOLDER, 'results.json');

export const REPORT = join(FOLDER, 'report.md');

/** Reads the stored results. Null before the first run. */
export function readRecording(): Recording | null {
  return existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Recording) : null;
}

/** Stores the results beside those of other benchmarks, and writes the report of all. */
export function writeReport(recording: Recording): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify(merge(readRecording(), recording), rounded, 1)}\n`);
  renderReport();
}

/** Writes the report and its plots from the stored results. */
export function renderReport(): void {
  const recording = readRecording();
  if (!recording) throw new Error('Nothing was recorded yet: npm run bench -- --report');
  writeFileSync(REPORT, toMarkdown(recording));
  const plots = BENCHMARK_NAMES.flatMap((name) => plotsOf(name, recording.benchmarks[name]?.measurements ?? []));
  const drawn = plots.map(({ specification, file }) => [specification, join(FOLDER, file)]);
  const { status, stderr } = spawnSync(process.execPath, [join(__dirname, 'draw.mjs')], {
    input: JSON.stringify(drawn),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The plots could not be drawn: ${stderr}`);
}

/** Further digits would be noise. */
const rounded = (_name: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
