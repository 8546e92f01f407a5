/**
 * Every benchmark with its description, in the order of a run: the largest workspace joins the shared inventory last.
 */
export const CATALOGUE = {
  paths: 'every route over HTTP beside a server written by hand, and the list beside one as tutorials write it',
  peers: 'the list beside that of Directus, with the same assets',
  start: 'time to ready, memory, and what more instances bring',
  update: 'a single update, a bulk of 100 and a replay, beside the bare transaction',
  auth: 'the guards in front of a route, beside the least they can cost',
  workspaces: 'pages of many small workspaces',
  console: 'pages of the web console',
  import: 'speed and memory of an import, beside a bare COPY',
  maps: 'speed and memory of an import of one JSON document by a map',
  tickets: 'updates and imports with change sets, beside the same without them',
  history: 'updates and imports that keep former states, beside the same without them',
  past: 'reads by id and streams as of an instant, beside plain ones',
  filters: 'every filter by size and depth: latency, buffers, exact totals',
  streams: 'a stream of all assets beside a server written by hand, and its memory',
} as const;

export type BenchmarkName = keyof typeof CATALOGUE;

export const BENCHMARK_NAMES = Object.keys(CATALOGUE) as BenchmarkName[];

/** The benchmarks that run by default. The others install additional software. */
export const USUAL_BENCHMARKS: readonly BenchmarkName[] = BENCHMARK_NAMES.filter((name) => name !== 'peers');
