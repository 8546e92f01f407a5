import autocannon from 'autocannon';
import type { Cluster } from './cluster';
import type { MeasuredProcess } from './measured-process';
import { median, quantile } from './statistics';

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A fixed list of requests in turn, or a new request each time. */
export type LoadSource = readonly LoadRequest[] | (() => LoadRequest);

/** Throughput and costs of a server. CPU is in microseconds per request. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly serverCpu: number;
  readonly postgresCpu: number;
  readonly redisCpu: number;
}

/** The name and unit of each figure for people. */
export const LOAD_FIGURES: Readonly<Record<keyof Load, readonly [figure: string, unit: string]>> = {
  requestsPerSecond: ['requests a second', ''],
  p50Milliseconds: ['p50', 'ms'],
  p99Milliseconds: ['p99', 'ms'],
  serverCpu: ['CPU of the server', 'µs'],
  postgresCpu: ['CPU of Postgres', 'µs'],
  redisCpu: ['CPU of Redis', 'µs'],
};

export interface LoadOptions extends CannonadeOptions {
  /** Awaited before the CPU time is read: work that the server does later for these requests. */
  readonly settle?: () => Promise<void>;
}

export interface CannonadeOptions {
  /** A duration, or a number of requests for slow servers that would complete too few. */
  readonly length: { readonly seconds: number } | { readonly requests: number };
  readonly connections: number;
}

/** In seconds, longer than any response here takes. */
const PATIENCE_SECONDS = 120;
/** Interval of checks for the end. */
const LOOK_EVERY_MS = 50;

/** Each connection sends its next request after the previous response. @throws unless every status is 2xx */
export async function load(
  server: MeasuredProcess,
  cluster: Pick<Cluster, 'cpuMilliseconds'>,
  source: LoadSource,
  { settle = () => Promise.resolve(), ...options }: LoadOptions,
): Promise<Load> {
  const before = { server: await server.cpuMilliseconds(), ...(await cluster.cpuMilliseconds()) };
  const result = await cannonade(server.port, source, options);
  await settle();
  const after = { server: await server.cpuMilliseconds(), ...(await cluster.cpuMilliseconds()) };
  const each = (of: keyof typeof before): number => ((after[of] - before[of]) / result.total) * 1_000;
  return {
    requestsPerSecond: result.requestsPerSecond,
    p50Milliseconds: result.p50,
    p99Milliseconds: result.p99,
    serverCpu: each('server'),
    postgresCpu: each('postgres'),
    redisCpu: each('redis'),
  };
}

interface Cannonade {
  readonly total: number;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Runs the load only. */
export async function cannonade(
  port: number,
  source: LoadSource,
  { length, connections }: CannonadeOptions,
): Promise<Cannonade> {
  const elapsed: number[] = [];
  const since = performance.now();
  let last = since;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const cannon = autocannon(
      {
        url: `http://127.0.0.1:${port}`,
        connections,
        timeout: PATIENCE_SECONDS,
        sampleInt: LOOK_EVERY_MS,
        ...('seconds' in length ? { duration: length.seconds } : { amount: length.requests }),
        requests:
          typeof source === 'function'
            ? [{ setupRequest: (request) => ({ ...request, ...source() }) }]
            : source.map((request) => ({ ...request })),
      },
      (error: Error | null, done: autocannon.Result) => (error ? reject(error) : resolve(done)),
    );
    // Its own percentiles are whole milliseconds, and its duration includes its polling interval.
    cannon.on('response', (_client, _status, _bytes, milliseconds) => {
      elapsed.push(milliseconds);
      last = performance.now();
    });
  });
  const { total } = result.requests;
  // It does not report closed connections. When the time is over, each connection has a request in flight.
  const lost = result.requests.sent - total - ('seconds' in length ? connections : 0);
  if (total === 0 || result['2xx'] !== total || result.errors > 0 || lost > 0) {
    const faults = `${result.errors} errors, ${Math.max(0, lost)} lost, ${JSON.stringify(result.statusCodeStats)}`;
    throw new Error(`${result['2xx']} of ${total} responses were 2xx, ${faults}`);
  }
  return {
    total,
    requestsPerSecond: (total / (last - since)) * 1_000,
    p50: quantile(elapsed, 0.5),
    p99: quantile(elapsed, 0.99),
  };
}

/** Returns the median of each figure. */
export function middleOf(loads: readonly Load[]): Load {
  const of = (figure: keyof Load): number => median(loads.map((one) => one[figure]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Milliseconds: of('p50Milliseconds'),
    p99Milliseconds: of('p99Milliseconds'),
    serverCpu: of('serverCpu'),
    postgresCpu: of('postgresCpu'),
    redisCpu: of('redisCpu'),
  };
}
