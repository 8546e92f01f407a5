import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { loadSettings } from '#libs/platform';
import { workspaceId } from '#libs/kernel';
import { dataSourceOptions } from '../../libs/platform/src/database/data-source';
import { Arrangement } from '../support/arrangement';
import { loadDemoAssets } from '../support/demo-assets';
import { UNLIMITED } from '../support/start-app';
import { type BenchmarkServices, withBenchmarkServices } from './benchmark-services';
import { type Load, load } from './load';
import { MeasuredProcess } from './measured-process';
import { judge, median, spread } from './statistics';

const PATH = '/v1/inventory/assets';
const CONNECTIONS = 8;
const TURNS = 3;
/** Of a turn. */
const SECONDS = 2;

type Variant = 'api' | 'floor' | 'tutorial';
type Servers = Readonly<Record<Variant, MeasuredProcess>>;

/** Pages of 25 over HTTP, from three servers on the same database, which take turns. */
export async function benchmarkList(options: { readonly rounds: number; readonly assets: number }): Promise<number> {
  console.log(`\nPages of 25 of ${options.assets} assets over HTTP, ${options.rounds} rounds of ${TURNS} turns`);
  return withBenchmarkServices(async (services) => {
    const workspace = await arrange(services, options.assets);
    const { servers, authorization } = await start(services, workspace);
    const figures = await measure(servers, authorization, options.rounds);
    for (const server of Object.values(servers)) await server.stop();
    return report(figures);
  });
}

async function arrange({ database }: BenchmarkServices, assets: number): Promise<string> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO workspace (slug, name) VALUES ('benchmark', 'Benchmark') RETURNING id`,
  );
  const workspace = (rows[0] as { id: string }).id;
  const operator = new DataSource(
    dataSourceOptions({ url: database.migrationDatabaseUrl, poolSize: 2, patience: 'operator' }, () => undefined),
  );
  await operator.initialize();
  await loadDemoAssets(operator, workspaceId(workspace), assets);
  await operator.destroy();
  // What the schema of a tutorial has: keys of one column, and an index on what it sorts by.
  await database.admin.query('CREATE INDEX ON asset_tag (asset_id); CREATE INDEX ON tag_key (id)');
  await database.admin.query('CREATE INDEX ON asset (workspace_id, created_at, id)');
  await database.admin.query('VACUUM ANALYZE');
  return workspace;
}

async function start(
  { database, redisUrl, localDir }: BenchmarkServices,
  workspace: string,
): Promise<{ readonly servers: Servers; readonly authorization: string }> {
  const environment = {
    NODE_ENV: 'test',
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: redisUrl,
    LOCAL_DIR: localDir,
    BASE_URL: 'https://api.example.test',
    ...UNLIMITED,
  };
  const api = await MeasuredProcess.start('api-child.ts', environment);
  const settings = loadSettings(environment);
  const arrangement = new Arrangement(database.admin, settings, `http://127.0.0.1:${api.port}`);
  const token = await arrangement.aToken(workspace);
  const [key = ''] = readdirSync(settings.signingKeysDir).filter((name) => name.endsWith('.pem'));
  // Past row-level security, which neither of the two has.
  const past = new URL(process.env['TEST_SUPERUSER_URL'] as string);
  past.pathname = new URL(database.databaseUrl).pathname;
  const others = {
    REDIS_URL: redisUrl,
    DATABASE_URL: past.href,
    SIGNING_KEY: join(settings.signingKeysDir, key),
    CLAIMS: Buffer.from(token.split('.')[1] as string, 'base64url').toString(),
  };
  return {
    authorization: `Bearer ${token}`,
    servers: {
      api,
      floor: await MeasuredProcess.start('floor-child.ts', others),
      tutorial: await MeasuredProcess.start('tutorial-child.ts', others),
    },
  };
}

async function measure(
  servers: Servers,
  authorization: string,
  rounds: number,
): Promise<Record<Variant, readonly Load[]>> {
  const variants = Object.keys(servers) as Variant[];
  const figures: Record<Variant, Load[]> = { api: [], floor: [], tutorial: [] };
  // The first round warms up.
  for (let round = -1; round < rounds; round += 1) {
    const turns: Record<Variant, Load[]> = { api: [], floor: [], tutorial: [] };
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const variant of variants) {
        const options = { authorization, seconds: SECONDS, connections: CONNECTIONS };
        turns[variant].push(await load(servers[variant], PATH, options));
      }
    }
    if (round >= 0) for (const variant of variants) figures[variant].push(middle(turns[variant]));
  }
  return figures;
}

const middle = (loads: readonly Load[]): Load => ({
  cpuMicroseconds: median(loads.map((one) => one.cpuMicroseconds)),
  requestsPerSecond: median(loads.map((one) => one.requestsPerSecond)),
  p50Milliseconds: median(loads.map((one) => one.p50Milliseconds)),
  p99Milliseconds: median(loads.map((one) => one.p99Milliseconds)),
});

function report(figures: Record<Variant, readonly Load[]>): number {
  for (const [variant, loads] of Object.entries(figures)) {
    const of = (figure: keyof Load): string => spread(loads.map((one) => one[figure]));
    console.log(
      `  ${variant}: ${of('requestsPerSecond')} requests a second, ${of('cpuMicroseconds')} µs of CPU a request`,
    );
    console.log(`    p50 ${of('p50Milliseconds')} ms, p99 ${of('p99Milliseconds')} ms`);
  }
  const ratio = (figure: keyof Load, of: Variant, to: Variant): number =>
    median(figures[of].map((one, round) => one[figure] / (figures[to][round]?.[figure] ?? Number.NaN)));
  return (
    judge('CPU of a page against the floor', ratio('cpuMicroseconds', 'api', 'floor'), { atMost: 1.6 }) +
    judge('throughput against the floor', ratio('requestsPerSecond', 'api', 'floor'), { atLeast: 0.65 }) +
    judge("throughput against a tutorial's", ratio('requestsPerSecond', 'api', 'tutorial'), { atLeast: 30 })
  );
}
