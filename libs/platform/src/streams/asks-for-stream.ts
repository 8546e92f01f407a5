import type { Response } from 'express';

export const NDJSON_MEDIA_TYPE = 'application/x-ndjson';

/** Whether the client prefers the whole list as NDJSON to one page as JSON. */
export function asksForStream(response: Response): boolean {
  response.vary('Accept');
  const { req: request } = response;
  if (!/ndjson/i.test(request.headers.accept ?? '')) return false;
  return request.accepts(['application/json', NDJSON_MEDIA_TYPE]) === NDJSON_MEDIA_TYPE;
}
