import type { Logger } from 'pino';
import type { ServedRequest } from '../../observability/served-request';

/** Writes one line for each request. No path, query, header or body, because clients put secrets into wrong places. */
export function logAccess(log: Logger, { traceId, ...served }: ServedRequest): void {
  log.info(
    traceId === null ? served : { ...served, trace_id: traceId },
    served.status === null ? 'request aborted' : 'request',
  );
}
