import type { Request } from 'express';

/** A call to Postgres or Redis. Neither name nor attributes hold a value that was sent. */
export interface OutgoingCall {
  readonly name: string;
  /** Named by the semantic conventions of OpenTelemetry. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/**
 * Facts about a request whose response is sent or whose connection is lost. None of them is free text of the client.
 */
export interface ServedRequest {
  readonly requestId: string;
  /** Null when the input was not a readable request. */
  readonly method: string | null;
  /** The route template, such as `/v1/inventory/assets/:id`. Null when no route matched. */
  readonly route: string | null;
  /** Null when the connection was lost before the response was sent. */
  readonly status: number | null;
  /** Code of the problem that was sent. */
  readonly code: string | null;
  readonly workspaceId: string | null;
  readonly clientId: string | null;
  readonly durationMs: number;
  /** Body bytes handed to the connection. */
  readonly bytes: number;
  readonly traceId: string | null;
  /** Why the client's proof was refused. */
  readonly reason?: string;
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
