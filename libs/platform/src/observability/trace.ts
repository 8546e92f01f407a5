import type { Request } from 'express';
import type { ServedRequest } from './served-request';

/** A call to Postgres or Redis. Neither name nor attributes hold a value that was sent. */
export interface OutgoingCall {
  readonly name: string;
  /** Named by the semantic conventions of OpenTelemetry. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

export interface RequestTrace {
  readonly traceId: string;
  /** Runs work as part of the request, including everything it starts later. */
  run(work: () => void): void;
  end(served: ServedRequest): void;
}

/** Reports to a collector how requests spend their time. */
export interface Tracing {
  request(request: Request): RequestTrace;
  /** Traces the call when it belongs to a request. */
  call<Result>(call: OutgoingCall, work: () => Promise<Result>): Promise<Result>;
  /** Sends the remaining spans, for three seconds at most. */
  stop(): Promise<void>;
}
