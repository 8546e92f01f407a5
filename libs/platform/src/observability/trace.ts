import type { Request } from 'express';
import type { ServedRequest } from './served-request';

/** A call to Postgres or Redis. Neither name nor attributes hold a value that was sent. */
export interface OutgoingCall {
  readonly name: string;
  /** By the semantic conventions of OpenTelemetry. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

export interface RequestTrace {
  readonly traceId: string;
  /** What begins here, and whatever that leads to, is part of the request. */
  run(work: () => void): void;
  end(served: ServedRequest): void;
}

/** Where the time of requests goes, told to a collector. */
export interface Tracing {
  request(request: Request): RequestTrace;
  /** Traces the call when it is made for a request. */
  call<Result>(call: OutgoingCall, work: () => Promise<Result>): Promise<Result>;
  /** Sends what is left, and waits for that three seconds at most. */
  stop(): Promise<void>;
}
