import type { BenchmarkName } from './catalogue';
import { formatNumber } from './statistics';

export type Bound = { readonly atMost: number } | { readonly atLeast: number };

export interface Target {
  /** The benchmark that measures it. */
  readonly benchmark: BenchmarkName;
  /** The measurement and its reference. */
  readonly what: string;
  readonly bound: Bound;
  /** Absent for ratios. */
  readonly unit?: string;
}

/**
 * The project's performance targets. They are ratios of measurements of one run, except counts, memory, the start, a page
 * of the console, and the speed of a stream and a map.
 */
export const TARGETS = {
  'list-cpu': {
    benchmark: 'paths',
    what: 'CPU of the server for a page of 25 assets, against the floor',
    bound: { atMost: 1.65 },
  },
  'list-throughput': {
    benchmark: 'paths',
    what: 'throughput of pages of 25 assets, against the floor',
    bound: { atLeast: 0.65 },
  },
  'list-tutorial': {
    benchmark: 'paths',
    what: "throughput of pages of 25 assets, against a tutorial's",
    bound: { atLeast: 30 },
  },
  'feed-page': {
    benchmark: 'paths',
    what: 'throughput of pages of 100 assets of the list, against pages of 100 changes',
    bound: { atMost: 1.7 },
  },
  'list-owners': {
    benchmark: 'paths',
    what: 'throughput of pages of 100 assets that have owners, against the same with `expand=owner`',
    bound: { atMost: 1.3 },
  },
  'read-redis': { benchmark: 'paths', what: 'commands to Redis of a read, the most of any path', bound: { atMost: 1 } },
  'read-postgres': {
    benchmark: 'paths',
    what: 'round trips to Postgres of a read, the most of any path',
    bound: { atMost: 1 },
  },
  'update-redis': { benchmark: 'paths', what: 'commands to Redis of an update', bound: { atMost: 1 } },
  'update-postgres': { benchmark: 'paths', what: 'round trips to Postgres of an update', bound: { atMost: 5 } },
  'filter-size': {
    benchmark: 'filters',
    what: 'p50 of the worst filter by facets and depth in the largest workspace, against one of 10,000 assets',
    bound: { atMost: 1.3 },
  },
  'filter-random': {
    benchmark: 'filters',
    what: 'p50 over HTTP of random pages, worst filter by facets, largest workspace against one of 10,000 assets',
    bound: { atMost: 1.3 },
  },
  'filter-depth': {
    benchmark: 'filters',
    what: 'p50 of the worst filter by facets at the last full page, against its first',
    bound: { atMost: 1.3 },
  },
  'filter-buffers': {
    benchmark: 'filters',
    what: 'buffers read for a page of 25, worst filter by facets and depth',
    bound: { atMost: 300 },
  },
  'total-count': {
    benchmark: 'filters',
    what: 'a page with its exact total, against COUNT(*) alone',
    bound: { atMost: 0.5 },
  },
  'import-new': {
    benchmark: 'import',
    what: 'speed of an import of new records, against a bare COPY',
    bound: { atLeast: 0.5 },
  },
  'import-unchanged': {
    benchmark: 'import',
    what: 'speed of an import that changes nothing, against a bare COPY',
    bound: { atLeast: 1.5 },
  },
  'import-memory': {
    benchmark: 'import',
    what: 'peak resident memory of an import',
    bound: { atMost: 300 },
    unit: 'MB',
  },
  'map-speed': {
    benchmark: 'maps',
    what: 'records a second of an import by the map of Intune',
    bound: { atLeast: 10_000 },
    unit: 'records',
  },
  'map-memory': {
    benchmark: 'maps',
    what: 'peak memory of an import by the map of Intune, against that of a tenth of the devices',
    bound: { atMost: 1.25 },
  },
  'update-bare': {
    benchmark: 'update',
    what: 'a single update over HTTP, against its bare transaction',
    bound: { atMost: 2 },
  },
  'bulk-bare': {
    benchmark: 'update',
    what: 'a bulk of 100 over HTTP, against its bare transaction',
    bound: { atMost: 2 },
  },
  'bulk-differing': {
    benchmark: 'update',
    what: 'a bulk of 100 patches that differ over HTTP, against one of 100 that are equal',
    bound: { atMost: 1.5 },
  },
  'ticket-update': {
    benchmark: 'tickets',
    what: 'a single update over HTTP, against the same without change sets',
    bound: { atMost: 1.2 },
  },
  'ticket-bulk': {
    benchmark: 'tickets',
    what: 'a bulk of 100 over HTTP, against the same without change sets',
    bound: { atMost: 1.2 },
  },
  'ticket-import': {
    benchmark: 'tickets',
    what: 'an import of new records, against the same without change sets',
    bound: { atMost: 1.1 },
  },
  'history-update': {
    benchmark: 'history',
    what: 'a single update over HTTP, against the same without history',
    bound: { atMost: 1.1 },
  },
  'history-bulk': {
    benchmark: 'history',
    what: 'a bulk of 100 over HTTP, against the same without history',
    bound: { atMost: 1.25 },
  },
  'history-import-new': {
    benchmark: 'history',
    what: 'an import of new records, against the same without history',
    bound: { atMost: 1.05 },
  },
  'history-import-unchanged': {
    benchmark: 'history',
    what: 'an import that changes nothing, against the same without history',
    bound: { atMost: 1.05 },
  },
  'history-import-changed': {
    benchmark: 'history',
    what: 'an import of changed records, against the same without history',
    bound: { atMost: 1.3 },
  },
  'past-read': {
    benchmark: 'past',
    what: 'a read by id as of an instant, of an asset with ten entries, against a plain one',
    bound: { atMost: 2 },
  },
  'past-stream': {
    benchmark: 'past',
    what: 'speed of a stream as of an instant since which a tenth changed, against a plain one',
    bound: { atLeast: 0.5 },
  },
  'stream-floor': {
    benchmark: 'streams',
    what: 'speed of a stream of all assets, against the floor',
    bound: { atLeast: 0.6 },
  },
  'stream-speed': {
    benchmark: 'streams',
    what: 'assets a second of a stream, from one Node process',
    bound: { atLeast: 20_000 },
    unit: 'assets',
  },
  'stream-memory': {
    benchmark: 'streams',
    what: 'growth of the peak memory after the first tenth of a stream of the largest workspace',
    bound: { atMost: 50 },
    unit: 'MB',
  },
  'replay-first': { benchmark: 'update', what: 'a replay, against the first run', bound: { atMost: 0.5 } },
  'guards-express': {
    benchmark: 'auth',
    what: 'CPU of the guards, against a bare Express route',
    bound: { atMost: 0.7 },
  },
  'guards-cpu': { benchmark: 'auth', what: 'CPU of the guards', bound: { atMost: 60 }, unit: 'µs' },
  'console-first': {
    benchmark: 'console',
    what: 'the first page of a console that has just started',
    bound: { atMost: 300 },
    unit: 'ms',
  },
  'boot-time': { benchmark: 'start', what: 'time from launch to ready', bound: { atMost: 1.5 }, unit: 's' },
  'idle-memory': { benchmark: 'start', what: 'resident memory when idle', bound: { atMost: 160 }, unit: 'MB' },
} as const satisfies Readonly<Record<string, Target>>;

export type TargetName = keyof typeof TARGETS;

/** Measured values by target. */
export type Measured = Readonly<Partial<Record<TargetName, number>>>;

export interface Verdict extends Target {
  readonly name: string;
  /** Null when nothing was measured. */
  readonly measured: number | null;
  readonly met: boolean;
}

/** Judges the targets. One that was not measured, or measured as NaN, is not met. */
export function judge(
  targets: Readonly<Record<string, Target>>,
  measured: Readonly<Record<string, number>>,
): Verdict[] {
  return Object.entries(targets).map(([name, target]) => {
    const value = measured[name] ?? null;
    return { ...target, name, measured: value, met: value !== null && holds(target.bound, value) };
  });
}

function holds(bound: Bound, value: number): boolean {
  return 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast;
}

export const formatBound = ({ bound, unit }: Target): string =>
  `at ${'atMost' in bound ? `most ${bound.atMost}` : `least ${bound.atLeast}`}${unit ? ` ${unit}` : ''}`;

export const formatMeasured = ({ measured, unit }: Verdict): string =>
  measured === null ? 'not measured' : `${formatNumber(measured)}${unit ? ` ${unit}` : ''}`;

/** Formats a line for each target and a summary. */
export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map((verdict) => {
    const outcome = verdict.met ? 'met' : verdict.measured === null ? '-' : 'MISSED';
    return `${outcome.padEnd(6)}  ${verdict.what}: ${formatMeasured(verdict)} (${formatBound(verdict)})`;
  });
  const met = verdicts.filter((verdict) => verdict.met).length;
  const summary = met === verdicts.length ? 'Every target is met.' : `${met} of ${verdicts.length} targets are met.`;
  return [...lines, '', summary].join('\n');
}
