import { benchmarkAuth } from './auth/auth-benchmark';
import type { BenchmarkName } from './catalogue';
import { benchmarkConsole } from './console/console-benchmark';
import { benchmarkFilters } from './filters/filters-benchmark';
import type { Findings } from './findings';
import { benchmarkHistory } from './history/history-benchmark';
import { benchmarkPast } from './history/past-benchmark';
import { benchmarkImports } from './imports/imports-benchmark';
import { benchmarkMaps } from './imports/maps-benchmark';
import { benchmarkPaths } from './paths/paths-benchmark';
import { benchmarkPeers } from './peers/peers-benchmark';
import type { Setting } from './setting';
import { benchmarkStart } from './start/start-benchmark';
import { benchmarkStreams } from './streams/streams-benchmark';
import { benchmarkTickets } from './tickets/tickets-benchmark';
import { benchmarkUpdates } from './updates/updates-benchmark';
import { benchmarkWorkspaces } from './workspaces/workspaces-benchmark';

export const BENCHMARKS: Readonly<Record<BenchmarkName, (setting: Setting) => Promise<Findings>>> = {
  paths: benchmarkPaths,
  peers: benchmarkPeers,
  start: benchmarkStart,
  update: benchmarkUpdates,
  auth: benchmarkAuth,
  workspaces: benchmarkWorkspaces,
  console: benchmarkConsole,
  import: benchmarkImports,
  maps: benchmarkMaps,
  tickets: benchmarkTickets,
  history: benchmarkHistory,
  past: benchmarkPast,
  filters: benchmarkFilters,
  streams: benchmarkStreams,
};
