import { benchmarkAuth } from './auth/auth-benchmark';
import { benchmarkFilters } from './filters/filters-benchmark';
import type { Findings } from './findings';
import { benchmarkImports } from './imports/imports-benchmark';
import { benchmarkPaths } from './paths/paths-benchmark';
import type { Setting } from './setting';
import { benchmarkStart } from './start/start-benchmark';
import { benchmarkUpdates } from './updates/updates-benchmark';
import { benchmarkWorkspaces } from './workspaces/workspaces-benchmark';

export interface Benchmark {
  readonly what: string;
  readonly run: (setting: Setting) => Promise<Findings>;
}

/** In the order of a run: those that read the shared inventory come before the largest workspace joins it. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  paths: {
    what: 'every route over HTTP, beside a server written by hand, and the list beside one as tutorials write it',
    run: benchmarkPaths,
  },
  start: { what: 'time to ready, memory, and what more replicas bring', run: benchmarkStart },
  update: { what: 'a single update, a bulk of 100 and a replay, beside the bare transaction', run: benchmarkUpdates },
  auth: { what: 'the guards in front of a route, and a token, beside the least they can cost', run: benchmarkAuth },
  workspaces: { what: 'pages of many small workspaces', run: benchmarkWorkspaces },
  import: { what: 'speed and memory of an import, beside a bare COPY', run: benchmarkImports },
  filters: { what: 'every filter by size and depth: latency, buffers, exact totals', run: benchmarkFilters },
};
