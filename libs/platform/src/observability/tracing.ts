import type { Request } from 'express';
import type { OutgoingCall, RequestTrace, Tracing } from './trace';

/** One for the process: who calls Postgres does not know on whose behalf. Null as long as nobody asked for traces. */
let tracing: Tracing | null = null;

/** From now on requests are traced. Only here the libraries are loaded: without traces they cost nothing. */
export function startTracing(endpoint: string, warn: (message: string) => void): Tracing {
  const { OpenTelemetryTracing } = require('./open-telemetry') as typeof import('./open-telemetry');
  tracing = OpenTelemetryTracing.to(endpoint, warn);
  return tracing;
}

/** Null where traces are off. */
export const traceRequest = (request: Request): RequestTrace | null => tracing?.request(request) ?? null;

/** Where traces are off, `work` and nothing else. */
export async function traceCall<Result>(call: () => OutgoingCall, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.call(call(), work) : work();
}
