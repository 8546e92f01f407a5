import type { BenchmarkName } from '../catalogue';
import type { Measurement } from '../findings';
import { spreadOf } from '../statistics';

export interface Plot {
  readonly title: string;
  readonly file: string;
  /** A vega-lite specification. */
  readonly specification: Readonly<Record<string, unknown>>;
}

interface Bars {
  readonly file: string;
  readonly title: string;
  readonly shows: (measurement: Measurement) => boolean;
  /** Logarithmic when the bars of a plot differ by orders of magnitude. */
  readonly scale: 'linear' | 'log';
}

const figure =
  (name: string) =>
  (measurement: Measurement): boolean =>
    measurement.figure === name;

/** The plots of each benchmark. */
const PLOTS: Readonly<Partial<Record<BenchmarkName, readonly Bars[]>>> = {
  paths: [
    {
      file: 'paths-cpu.svg',
      title: 'CPU of the server for a request, µs',
      shows: figure('CPU of the server'),
      scale: 'log',
    },
    {
      file: 'paths-throughput.svg',
      title: 'Requests a second',
      shows: figure('requests a second'),
      scale: 'log',
    },
    {
      file: 'paths-postgres.svg',
      title: 'CPU of Postgres for a request, µs',
      shows: figure('CPU of Postgres'),
      scale: 'log',
    },
  ],
  peers: [
    {
      file: 'peers-cpu.svg',
      title: 'CPU of the server for a page of 25, µs',
      shows: figure('CPU of the server'),
      scale: 'linear',
    },
    {
      file: 'peers-throughput.svg',
      title: 'Pages of 25 a second',
      shows: figure('requests a second'),
      scale: 'linear',
    },
  ],
  filters: [
    { file: 'filters-p50.svg', title: 'p50 of a page of 25, ms', shows: figure('p50'), scale: 'linear' },
    { file: 'filters-buffers.svg', title: 'Buffers of a page of 25', shows: figure('buffers'), scale: 'linear' },
  ],
  import: [{ file: 'import-speed.svg', title: 'Records a second', shows: figure('records a second'), scale: 'linear' }],
  update: [{ file: 'update-time.svg', title: 'Time of one client, ms', shows: figure('time'), scale: 'linear' }],
  start: [
    {
      file: 'instances.svg',
      title: 'Requests a second of all instances together',
      shows: figure('requests a second'),
      scale: 'linear',
    },
  ],
};

export function plotsOf(benchmark: BenchmarkName, measurements: readonly Measurement[]): Plot[] {
  if (measurements.length === 0) return [];
  return (PLOTS[benchmark] ?? []).map(({ file, title, shows, scale }) => {
    return { file, title, specification: bars(title, measurements.filter(shows), scale) };
  });
}

/** Draws the median of each subject and variant as a bar or point, with a line from minimum to maximum. */
function bars(title: string, measurements: readonly Measurement[], scale: Bars['scale']): Plot['specification'] {
  const values = measurements.map(({ subject, variant, values: rounds }) => ({
    subject,
    variant,
    ...spreadOf(rounds),
  }));
  const x = { type: 'quantitative', title: null, scale: { type: scale, zero: scale === 'linear' } };
  const y = { field: 'subject', type: 'nominal', sort: null, title: null, axis: { labelLimit: 500 } };
  const offset = { yOffset: { field: 'variant', sort: null } };
  // On a logarithmic scale the length of a bar is meaningless.
  const mark = scale === 'log' ? { type: 'point', filled: true, size: 60 } : 'bar';
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title,
    width: 560,
    height: { step: 14 },
    background: 'white',
    data: { values },
    layer: [
      {
        mark,
        encoding: {
          ...{ x: { ...x, field: 'median' }, y, ...offset },
          color: { field: 'variant', type: 'nominal', sort: null, title: null },
        },
      },
      { mark: 'rule', encoding: { x: { ...x, field: 'least' }, x2: { field: 'most' }, y, ...offset } },
    ],
  };
}
