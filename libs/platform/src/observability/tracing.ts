import type { Request } from 'express';
import type { OutgoingCall, RequestTrace, Tracing } from './trace';

/** One for the whole process, because database code does not know the request. Null when tracing is off. */
let tracing: Tracing | null = null;

/** Starts tracing. The libraries are loaded only here, so they cost nothing when tracing is off. */
export function startTracing(endpoint: string, warn: (message: string) => void): Tracing {
  const { OpenTelemetryTracing } = require('./open-telemetry') as typeof import('./open-telemetry');
  tracing = OpenTelemetryTracing.to(endpoint, warn);
  return tracing;
}

/** Returns null when tracing is off. */
export const traceRequest = (request: Request): RequestTrace | null => tracing?.request(request) ?? null;

/** Runs `work`, and traces it when tracing is on. */
export async function traceCall<Result>(call: () => OutgoingCall, work: () => Promise<Result>): Promise<Result> {
  return tracing ? tracing.call(call(), work) : work();
}
