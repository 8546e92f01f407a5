import type { Response } from 'express';

/** The media type of every stream, whichever of the accepted names a client sent. */
export const NDJSON_MEDIA_TYPE = 'application/x-ndjson';
const ACCEPTED = [NDJSON_MEDIA_TYPE, 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'];
const ANY_OF_THEM = /ndjson|jsonl/i;

/** Whether the client prefers the whole list as NDJSON to one page as JSON. */
export function asksForStream(response: Response): boolean {
  response.vary('Accept');
  const { req: request } = response;
  if (!ANY_OF_THEM.test(request.headers.accept ?? '')) return false;
  const preferred = request.accepts(['application/json', ...ACCEPTED]);
  return preferred !== false && ACCEPTED.includes(preferred);
}
