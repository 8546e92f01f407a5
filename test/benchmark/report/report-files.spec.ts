import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BENCHMARK_NAMES, CATALOGUE } from '../catalogue';
import type { Recording } from '../recording';
import { TARGETS } from '../targets';
import { toMarkdown } from './markdown';
import { plotsOf } from './plots';
import { REPORT, readRecording } from './report-files';

const recording = readRecording() as Recording;
const report = readFileSync(REPORT, 'utf8');

describe('The recorded report', () => {
  it('matches the recorded results', () => {
    expect(report).toBe(toMarkdown(recording));
  });

  it('has a result for every target', () => {
    for (const { what } of Object.values(TARGETS)) expect(report).toContain(`| ${what} |`);
  });

  it('says of a target without a result only that it was not measured', () => {
    const [first] = toMarkdown({ ...recording, benchmarks: {} }).match(/^\| CPU of .*$/m) ?? [];
    expect(first).toBe(
      '| CPU of the server for a page of 25 assets, against the floor | not measured | at most 1.65 |  |  |',
    );
  });

  it('shows every existing plot', () => {
    const shown = [...report.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, file]) => file as string);
    expect(shown.filter((file) => !existsSync(join(dirname(REPORT), file)))).toEqual([]);
    expect(shown.sort()).toEqual(readdirSync(dirname(REPORT)).filter((file) => file.endsWith('.svg')));
  });

  it('has no empty plot', () => {
    const plots = BENCHMARK_NAMES.flatMap((name) => plotsOf(name, recording.benchmarks[name]?.measurements ?? []));
    const bars = plots.map(({ file, specification }) => [file, (specification['data'] as { values: object[] }).values]);
    expect(bars.filter(([, values]) => values?.length === 0)).toEqual([]);
  });
});

describe('docs/benchmarks.md', () => {
  it('says what every benchmark measures', () => {
    const page = readFileSync(join(dirname(REPORT), '../benchmarks.md'), 'utf8');
    for (const name of Object.keys(CATALOGUE)) expect(page).toContain(`\n- \`${name}\``);
  });
});
