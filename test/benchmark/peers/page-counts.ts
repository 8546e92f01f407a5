import { RoundTripCounter } from '../../support/round-trips';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Measurement } from '../findings';
import { responseTo } from '../paths/routes';
import { startApi } from '../servers';
import type { Setting } from '../setting';
import type { DirectusPeer } from './directus-peer';
import { type Asked, type Readers, requestsOf, whoResponds } from './list-requests';

/** Background work may add queries, so the minimum of a few tries counts. */
const TRIES = 5;

/** Counts the round trips to Postgres for each request, with servers behind a counting proxy. */
export async function countRoundTrips(
  { cluster }: Setting,
  pages: Readonly<Record<string, Asked>>,
  database: BenchmarkDatabase,
  peer: DirectusPeer,
): Promise<Measurement[]> {
  const counters = {
    api: await RoundTripCounter.before(database.databaseUrl),
    directus: await RoundTripCounter.before(peer.databaseUrl),
  };
  const servers = { api: await startApi(cluster, counters.api.url), directus: await peer.serve(counters.directus.url) };
  const measurements: Measurement[] = [];
  for (const [subject, asked] of Object.entries(pages)) {
    for (const [variant, request] of requestsOf(asked)) {
      const who: keyof Readers = whoResponds(variant);
      const tries = [];
      for (let count = 0; count < TRIES; count += 1) {
        tries.push(await counters[who].during(() => responseTo({ server: servers[who] }, request)));
      }
      const roundTrips = Math.min(...tries.map((one) => one.roundTrips));
      const statements = Math.min(...tries.map((one) => one.statements));
      measurements.push({ subject, variant, figure: 'round trips to Postgres', unit: '', values: [roundTrips] });
      measurements.push({ subject, variant, figure: 'statements', unit: '', values: [statements] });
    }
  }
  for (const server of Object.values(servers)) await server.stop();
  for (const counter of Object.values(counters)) await counter.close();
  return measurements;
}
