import type { Measurement } from '../findings';
import { LOAD_FIGURES, type Load } from '../load';
import { medianRatio } from '../statistics';
import type { Measured } from '../targets';
import type { RequestCosts } from './request-costs';
import { ROUTES } from './routes';

export type Variant = 'api' | 'floor' | 'tutorial';
export type Loads = Readonly<Partial<Record<Variant, readonly Load[]>>>;

const READS = ROUTES.filter(({ kind }) => kind === 'read').map(({ name }) => name);
const UPDATES = ['update', 'bulk of 100', 'replay'];

export function measurementsOf(route: string, variants: Loads): Measurement[] {
  return Object.entries(variants).flatMap(([variant, loads]) =>
    Object.entries(LOAD_FIGURES).map(([name, [figure, unit]]) => {
      const values = loads.map((one) => one[name as keyof Load]);
      return { subject: route, variant, figure, unit, values };
    }),
  );
}

export function countsOf(variant: string, routes: Readonly<Record<string, RequestCosts>>): Measurement[] {
  return Object.entries(routes).flatMap(([subject, { roundTrips, statements, commands }]) => [
    { subject, variant, figure: 'round trips to Postgres', unit: '', values: [roundTrips] },
    // The floor sends all writes of an update as one text, so its statements are not counted.
    ...(variant === 'floor' && !READS.includes(subject)
      ? []
      : [{ subject, variant, figure: 'statements', unit: '', values: [statements] }]),
    { subject, variant, figure: 'commands to Redis', unit: '', values: [commands] },
  ]);
}

export function loadTargets(loads: Readonly<Record<string, Loads>>): Measured {
  const { list = {} } = loads;
  const pages = (route: string): number[] => (loads[route]?.api ?? []).map((one) => one.requestsPerSecond);
  const ratio = (figure: keyof Load, of: Variant, to: Variant): number =>
    medianRatio(
      (list[of] ?? []).map((one) => one[figure]),
      (list[to] ?? []).map((one) => one[figure]),
    );
  return {
    'list-cpu': ratio('serverCpu', 'api', 'floor'),
    'list-throughput': ratio('requestsPerSecond', 'api', 'floor'),
    'feed-page': medianRatio(pages('list of 100'), pages('changes of 100')),
    'list-owners': medianRatio(pages('owned list of 100'), pages('owned list of 100 with owners')),
    'list-tutorial': ratio('requestsPerSecond', 'api', 'tutorial'),
  };
}

export function countTargets(costs: Readonly<Record<string, RequestCosts>>): Measured {
  const most = (cost: keyof RequestCosts, routes: readonly string[]): number =>
    Math.max(...routes.map((route) => costs[route]?.[cost] ?? Number.NaN));
  return {
    'read-redis': most('commands', READS),
    'read-postgres': most('roundTrips', READS),
    'update-redis': most('commands', UPDATES),
    'update-postgres': most('roundTrips', UPDATES),
  };
}
