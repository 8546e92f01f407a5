import { RoundTripCounter } from '../../support/round-trips';
import type { Cluster } from '../cluster';
import type { LoadRequest, LoadSource } from '../load';
import { type Route, responseTo } from './routes';
import type { Site } from './site';

const TRIES = 10;

/** Calls of Postgres and Redis for one request. */
export interface RequestCosts {
  readonly roundTrips: number;
  readonly statements: number;
  readonly commands: number;
}

/**
 * Returns the costs of a request of each route, by name. Background work or an expired grant may add calls, so the
 * minimum of a few tries counts.
 */
export async function requestCosts(
  cluster: Cluster,
  routes: readonly Route[],
  databaseUrl: string,
  siteOn: (databaseUrl: string) => Promise<Site>,
): Promise<Record<string, RequestCosts>> {
  const counter = await RoundTripCounter.before(databaseUrl);
  const site = await siteOn(counter.url);
  const costs: Record<string, RequestCosts> = {};
  for (const route of routes) {
    const source = await route.source(site);
    const tries: RequestCosts[] = [];
    for (let index = 0; index < TRIES; index += 1) {
      const request = requestOf(source, index);
      let commands = 0;
      const conversation = await counter.during(async () => {
        commands = await cluster.commandsDuring(() => responseTo(site, request));
      });
      tries.push({ ...conversation, commands });
    }
    const least = (cost: keyof RequestCosts): number => Math.min(...tries.map((one) => one[cost]));
    costs[route.name] = {
      roundTrips: least('roundTrips'),
      statements: least('statements'),
      commands: least('commands'),
    };
  }
  await site.server.stop();
  await counter.close();
  return costs;
}

function requestOf(source: LoadSource, index: number): LoadRequest {
  return typeof source === 'function' ? source() : (source[index % source.length] as LoadRequest);
}
