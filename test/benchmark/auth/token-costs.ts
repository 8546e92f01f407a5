import type { ArrangedApplication, Arrangement } from '../../support/arrangement';
import { loadSettings } from '#libs/platform';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings } from '../findings';
import { type LoadSource, load } from '../load';
import { MeasuredProcess } from '../measured-process';
import { apiEnvironment, applicationsOf, tokenRequests } from '../servers';
import type { Setting } from '../setting';
import { median, medianRatio, milliseconds } from '../statistics';
import { takeTurns } from '../turns';
import { BareTokens } from './bare-tokens';

const CONNECTIONS = 8;
/** Short turns: how fast a machine is that others share changes within a second, and nearly all of this is arithmetic. */
const TOKENS_PER_TURN = 200;
const TURNS = 8;
/** A token takes as long as so many reads. */
const READS_PER_TOKEN = 10;

/** Of one token: the CPU of all that has a part in it, in microseconds, and what each of eight clients waits for, in ms. */
interface TokenCost {
  readonly cpu: number;
  readonly time: number;
}

/**
 * Tokens over HTTP, each of eight clients asking for its next one when it has the one before: of applications that are
 * remembered, as those are that had one lately, and of others; from a process without Redis, which remembers nobody; and the
 * bare work likewise.
 */
export async function measureTokens(
  setting: Setting,
  server: MeasuredProcess,
  database: BenchmarkDatabase,
  arrange: Arrangement,
): Promise<Findings> {
  const { cluster, sizes } = setting;
  const { id: workspace } = await database.aWorkspace();
  const applications = await applicationsOf(arrange, workspace);
  const source = tokenRequests(applications);
  const others = tokenRequests(await applicationsOf(arrange, workspace, TOKENS_PER_TURN));
  const { REDIS_URL: _, ...environment } = apiEnvironment(cluster, database.databaseUrl);
  const alone = await MeasuredProcess.start('auth/guard-child.ts', environment, 'nest');
  const { signingKeysDir } = loadSettings(environment);
  const bare = new BareTokens(database.superuserUrl, signingKeysDir, CONNECTIONS);

  const overHttp = async (source: LoadSource, from = server): Promise<TokenCost> => {
    const options = { length: { requests: TOKENS_PER_TURN }, connections: CONNECTIONS };
    const { serverCpu, postgresCpu, redisCpu, p50Milliseconds } = await load(from, cluster, source, options);
    return { cpu: serverCpu + postgresCpu + redisCpu, time: p50Milliseconds };
  };
  const byHand = async (): Promise<TokenCost> => {
    const before = { own: process.cpuUsage(), services: await cluster.cpuMilliseconds() };
    const elapsed: number[] = [];
    const client = async (_: unknown, index: number): Promise<void> => {
      for (let count = 0; count < TOKENS_PER_TURN / CONNECTIONS; count += 1) {
        const { clientId } = applications[(count * CONNECTIONS + index) % applications.length] as ArrangedApplication;
        elapsed.push(await milliseconds(() => bare.issue(clientId)));
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    const { user, system } = process.cpuUsage(before.own);
    const { postgres } = await cluster.cpuMilliseconds();
    const cpu = (user + system + (postgres - before.services.postgres) * 1_000) / TOKENS_PER_TURN;
    return { cpu, time: median(elapsed) };
  };

  const works = {
    'over HTTP': () => overHttp(source),
    'over HTTP, the first of a client': async () => {
      await cluster.emptyRedis();
      return overHttp(others);
    },
    'over HTTP, without Redis': () => overHttp(source, alone),
    'a signature and one update': byHand,
  };
  const costs = await takeTurns(
    Object.keys(works) as (keyof typeof works)[],
    {
      rounds: sizes.rounds,
      turns: TURNS,
      warmUpRounds: Math.ceil(sizes.warmUpRequests / READS_PER_TOKEN / TOKENS_PER_TURN),
    },
    (variant) => works[variant](),
    (turns) => ({ cpu: median(turns.map(({ cpu }) => cpu)), time: median(turns.map(({ time }) => time)) }),
  );
  await bare.close();
  await alone.stop();
  const cpu = (variant: keyof typeof works): number[] => costs[variant].map((cost) => cost.cpu);
  return {
    measurements: Object.entries(costs).flatMap(([variant, values]) => [
      { subject: 'a token', variant, figure: 'CPU of all', unit: 'µs', values: values.map((cost) => cost.cpu) },
      { subject: 'a token', variant, figure: 'p50', unit: 'ms', values: values.map(({ time }) => time) },
    ]),
    measured: { 'token-bare': medianRatio(cpu('over HTTP'), cpu('a signature and one update')) },
  };
}
