import type { Findings } from '../findings';
import { cannonade, load } from '../load';
import { MeasuredProcess } from '../measured-process';
import { type Access, accessTo, apiEnvironment, arrangementAt } from '../servers';
import type { Setting } from '../setting';
import { median, medianRatio } from '../statistics';
import { takeTurns } from '../turns';

const CONNECTIONS = 8;
const TURNS_OF_GUARDS = 4;

/** Measures the cost of authentication and authorization. */
export async function benchmarkAuth(setting: Setting): Promise<Findings> {
  const { cluster } = setting;
  const database = await cluster.aDatabase();
  const { id: workspace } = await database.aWorkspace();
  const environment = apiEnvironment(cluster, database.databaseUrl);
  const nest = await MeasuredProcess.start('auth/guard-child.ts', environment, 'nest');
  const arrange = arrangementAt(cluster, database, nest.port);
  const access = await accessTo(nest.port, arrange, workspace);
  const guards = await measureGuards(setting, nest, environment, access);
  await nest.stop();
  await database.drop();
  return guards;
}

async function measureGuards(
  { cluster, sizes }: Setting,
  nest: MeasuredProcess,
  environment: Readonly<Record<string, string>>,
  { authorization }: Access,
): Promise<Findings> {
  const express = await MeasuredProcess.start('auth/guard-child.ts', environment, 'express');
  const variants = {
    'bare Express': { server: express, path: '/open', headers: {} },
    'without guards': { server: nest, path: '/open', headers: {} },
    'with guards': { server: nest, path: '/guarded', headers: { authorization } },
  };
  for (const { server, path, headers } of Object.values(variants)) {
    const warmUp = { length: { requests: sizes.warmUpRequests }, connections: CONNECTIONS };
    await cannonade(server.port, [{ method: 'GET', path, headers }], warmUp);
  }
  const costs = await takeTurns(
    Object.keys(variants) as (keyof typeof variants)[],
    { rounds: sizes.rounds, turns: TURNS_OF_GUARDS },
    async (variant) => {
      const { server, path, headers } = variants[variant];
      const options = { length: { seconds: sizes.secondsPerTurn }, connections: CONNECTIONS };
      return (await load(server, cluster, [{ method: 'GET', path, headers }], options)).serverCpu;
    },
    median,
  );
  await express.stop();
  const guards = costs['with guards'].map((cost, round) => cost - (costs['without guards'][round] ?? Number.NaN));
  const figure = { subject: 'a route that does nothing', figure: 'CPU of the server', unit: 'µs' };
  return {
    measurements: [
      ...Object.entries(costs).map(([variant, values]) => ({ ...figure, variant, values })),
      { ...figure, variant: 'the guards', values: guards },
    ],
    measured: { 'guards-express': medianRatio(guards, costs['bare Express']), 'guards-cpu': median(guards) },
  };
}
