import autocannon from 'autocannon';
import type { MeasuredProcess } from './measured-process';

export interface Load {
  /** Of the server, in microseconds for each request. */
  readonly cpuMicroseconds: number;
  readonly requestsPerSecond: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

/** As many requests as so many connections get answered in this time. Throws unless each is answered 2xx. */
export async function load(
  server: MeasuredProcess,
  path: string,
  {
    authorization,
    seconds,
    connections,
  }: { readonly authorization?: string; readonly seconds: number; readonly connections: number },
): Promise<Load> {
  const before = await server.cpuMilliseconds();
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}${path}`,
    connections,
    duration: seconds,
    headers: authorization === undefined ? {} : { authorization },
  });
  const { total } = result.requests;
  if (total === 0 || result['2xx'] !== total) throw new Error(`${path}: ${result['2xx']} of ${total} answered`);
  return {
    cpuMicroseconds: (((await server.cpuMilliseconds()) - before) / total) * 1_000,
    requestsPerSecond: total / result.duration,
    p50Milliseconds: result.latency.p50,
    p99Milliseconds: result.latency.p99,
  };
}
