import type { Measurement } from '../findings';
import { LOAD_FIGURES, type Load, type LoadRequest, cannonade, load, middleOf } from '../load';
import type { Setting } from '../setting';
import { takeTurns } from '../turns';
import { type Asked, type Readers, type Variant, requestsOf, whoResponds } from './list-requests';

const CONNECTIONS = 8;
const TURNS = 2;
/** A request of Directus costs about as much as ten of the API, so that both warm up equally long. */
const WEIGHT = 10;

/** Measures the cost of the same page for each variant in turn. */
export async function measureLoads(
  { cluster, sizes, say }: Setting,
  subject: string,
  asked: Asked,
  readers: Readers,
): Promise<Measurement[]> {
  const requests = new Map<Variant, LoadRequest>(requestsOf(asked));
  say(`  ${subject}: ${[...requests.keys()].join(', ')} in turn`);
  for (const [variant, request] of requests) {
    const { server } = readers[whoResponds(variant)];
    const warmUpRequests = Math.ceil(sizes.warmUpRequests / (variant === 'api' ? 1 : WEIGHT) / requests.size);
    const length = { requests: Math.max(CONNECTIONS, warmUpRequests) };
    await cannonade(server.port, [request], { length, connections: CONNECTIONS });
  }
  const loads = await takeTurns(
    [...requests.keys()],
    { rounds: sizes.rounds, turns: TURNS },
    (variant) =>
      load(readers[whoResponds(variant)].server, cluster, [requests.get(variant) as LoadRequest], {
        length: { seconds: sizes.secondsPerTurn },
        connections: CONNECTIONS,
      }),
    middleOf,
  );
  return Object.entries(loads).flatMap(([variant, rounds]) =>
    figuresOf(variant as Variant).map((name) => {
      const [figure, unit] = LOAD_FIGURES[name];
      return { subject, variant, figure, unit, values: rounds.map((one) => one[name]) };
    }),
  );
}

/** Directus uses no Redis, so Redis' CPU time counts for the API only. */
const figuresOf = (variant: Variant): (keyof Load)[] =>
  (Object.keys(LOAD_FIGURES) as (keyof Load)[]).filter((name) => name !== 'redisCpu' || whoResponds(variant) === 'api');
