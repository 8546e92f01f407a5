/** What is known of a request when its answer is out or its connection lost. Nothing that a client could have filled in. */
export interface ServedRequest {
  readonly requestId: string;
  /** Null when what came was no request that could be read. */
  readonly method: string | null;
  /** The template, as in `/v1/inventory/assets/:id`; null when no route matched. */
  readonly route: string | null;
  /** Null when the connection was lost before the answer was out. */
  readonly status: number | null;
  /** Of the problem that was answered. */
  readonly code: string | null;
  readonly workspaceId: string | null;
  readonly clientId: string | null;
  readonly durationMs: number;
  /** Of the answer's body, as handed to the connection. */
  readonly bytes: number;
  readonly traceId: string | null;
}
