import type { Logger } from 'pino';
import type { ServedRequest } from '../../observability/served-request';

/** One line a request. No path, no query, no header, no body: what a client sends may be a secret in the wrong place. */
export function logAccess(log: Logger, { traceId, ...served }: ServedRequest): void {
  log.info(
    traceId === null ? served : { ...served, trace_id: traceId },
    served.status === null ? 'request aborted' : 'request',
  );
}
