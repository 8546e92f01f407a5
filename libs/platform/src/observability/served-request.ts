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
