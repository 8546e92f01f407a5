import { Redis } from 'ioredis';
import { loadSettings } from '#libs/platform';
import { Arrangement, type ArrangedApplication } from '../support/arrangement';
import { UNLIMITED } from '../support/start-app';
import { BareTokens } from './bare-tokens';
import { type BenchmarkServices, withBenchmarkServices } from './benchmark-services';
import { load } from './load';
import { MeasuredProcess } from './measured-process';
import { judge, median, milliseconds, spread } from './statistics';

const CONNECTIONS = 8;
const TURNS_OF_GUARDS = 4;
const WARM_UP_TURNS = 3;
const COUNTED_REQUESTS = 200;
const TOKENS_PER_TURN = 20;
const TURNS_OF_TOKENS = 6;

interface Setting extends BenchmarkServices {
  readonly environment: Readonly<Record<string, string>>;
  readonly arrange: Arrangement;
  readonly nest: MeasuredProcess;
  readonly application: ArrangedApplication;
}

/** What it costs to know who calls and whether they may, and to give them a token. */
export async function benchmarkAuth({ rounds }: { readonly rounds: number }): Promise<number> {
  return withBenchmarkServices(async (services) => {
    const environment = {
      NODE_ENV: 'test',
      DATABASE_URL: services.database.databaseUrl,
      REDIS_URL: services.redisUrl,
      LOCAL_DIR: services.localDir,
      BASE_URL: 'https://api.example.test',
      ...UNLIMITED,
    };
    const nest = await MeasuredProcess.start('guard-child.ts', environment, 'nest');
    const arrange = new Arrangement(
      services.database.admin,
      loadSettings(environment),
      `http://127.0.0.1:${nest.port}`,
    );
    const application = await arrange.anApplication(await arrange.aWorkspace());
    const setting = { ...services, environment, arrange, nest, application };
    const missed = (await measureGuards(setting, rounds)) + (await measureTokens(setting, rounds));
    await nest.stop();
    return missed;
  });
}

async function measureGuards({ environment, nest, redisUrl, arrange }: Setting, rounds: number): Promise<number> {
  console.log(`\nGuards: ${rounds} rounds of ${TURNS_OF_GUARDS} turns of a second`);
  const bare = await MeasuredProcess.start('guard-child.ts', environment, 'express');
  const authorization = `Bearer ${await arrange.aToken(await arrange.aWorkspace())}`;
  const variants = {
    'bare Express': () => cpuOf(bare, '/open'),
    'without guards': () => cpuOf(nest, '/open'),
    'with guards': () => cpuOf(nest, '/guarded', authorization),
  };
  const names = Object.keys(variants) as (keyof typeof variants)[];
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) for (const name of names) await variants[name]();
  const figures: Record<keyof typeof variants, number[]> = {
    'bare Express': [],
    'without guards': [],
    'with guards': [],
  };
  for (let round = 0; round < rounds; round += 1) {
    const turns = names.map((): number[] => []);
    for (let turn = 0; turn < TURNS_OF_GUARDS; turn += 1) {
      for (const [index, name] of names.entries()) turns[index]?.push(await variants[name]());
    }
    names.forEach((name, index) => figures[name].push(median(turns[index] ?? [])));
  }
  for (const name of names) console.log(`  ${name}: ${spread(figures[name])} µs of CPU a request`);
  const guards = figures['with guards'].map((cost, round) => cost - (figures['without guards'][round] ?? Number.NaN));
  console.log(`  the guards: ${spread(guards)} µs of CPU`);
  const shares = guards.map((cost, round) => cost / (figures['bare Express'][round] ?? Number.NaN));
  const commands = await countCommands(redisUrl, async () => {
    for (let count = 0; count < COUNTED_REQUESTS; count += 1) {
      await fetch(`http://127.0.0.1:${nest.port}/guarded`, { headers: { authorization } });
    }
  });
  await bare.stop();
  return (
    // 60 µs where a bare Express route takes 85.
    judge('CPU of the guards against a bare Express route', median(shares), { atMost: 0.7 }) +
    judge('commands to Redis of a request', commands / COUNTED_REQUESTS, { atMost: 1.05 })
  );
}

/** Microseconds of the server's CPU for each request. */
async function cpuOf(server: MeasuredProcess, path: string, authorization?: string): Promise<number> {
  const options = { ...(authorization !== undefined && { authorization }), seconds: 1, connections: CONNECTIONS };
  return (await load(server, path, options)).cpuMicroseconds;
}

/** Those that clients sent while `work` ran, without what scripts did. */
async function countCommands(url: string, work: () => Promise<unknown>): Promise<number> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  let count = 0;
  monitor.on('monitor', (_time: string, _words: string[], source: string) => {
    if (source !== 'lua') count += 1;
  });
  await work();
  monitor.disconnect();
  redis.disconnect();
  return count;
}

async function measureTokens(setting: Setting, rounds: number): Promise<number> {
  console.log(`\nTokens: ${rounds} rounds of ${TURNS_OF_TOKENS * TOKENS_PER_TURN}`);
  const { database, nest, application, environment } = setting;
  const bare = BareTokens.open(database.admin, loadSettings(environment).signingKeysDir, application.clientId);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: application.clientId,
    client_secret: application.clientSecret,
  }).toString();
  const issue = async (): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${nest.port}/oauth/token`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    await answer.text();
    if (answer.status !== 200) throw new Error(`A token request got ${answer.status}`);
  };
  const figures = { token: [] as number[], bare: [] as number[], ratio: [] as number[] };
  for (let round = -1; round < rounds; round += 1) {
    const token: number[] = [];
    const floor: number[] = [];
    for (let turn = 0; turn < TURNS_OF_TOKENS; turn += 1) {
      for (let count = 0; count < TOKENS_PER_TURN; count += 1) token.push(await milliseconds(issue));
      for (let count = 0; count < TOKENS_PER_TURN; count += 1) floor.push(await milliseconds(() => bare.issue()));
    }
    // The first round warms up.
    if (round < 0) continue;
    figures.token.push(median(token));
    figures.bare.push(median(floor));
    figures.ratio.push(median(token) / median(floor));
  }
  console.log(`  a token over HTTP: ${spread(figures.token)} ms`);
  console.log(`  a signature and one update: ${spread(figures.bare)} ms`);
  return judge('a token against a signature and one update', median(figures.ratio), { atMost: 1.3 });
}
