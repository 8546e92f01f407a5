import type { Type } from '@nestjs/common';
import { ValidationFailed } from '#libs/kernel';
import type { Response } from 'express';
import type { DocumentedStream } from '../openapi/api-success.decorator';
import { StreamCheckpointDto, StreamEndDto, StreamStartDto, StreamStartThenDto } from './stream-lines.dto';

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

/** @throws `validation_failed` for the query of a page that names an instant */
export function refuseInstantOfPage({ asOf }: { readonly asOf?: Date }): void {
  if (!asOf) return;
  const detail = 'asOf is not for pages: read the stream, with Accept: application/x-ndjson.';
  throw new ValidationFailed([{ parameter: 'asOf', code: 'choice', detail }]);
}

/** Sentences on the stream, for the description of its route. */
export const STREAM_DESCRIPTION =
  '`Accept: application/x-ndjson` returns the whole list as a stream of JSON lines; so do `application/ndjson`, ' +
  '`application/jsonl` and `application/x-jsonlines`. A stream takes no `pageSize`, and as ' +
  '`pageCursor` only one of a checkpoint line.';

/** Describes a route's stream in the contract: its own kind of line, and those that all streams have. */
export const streamOf = <Line extends { readonly type: string }>(
  line: Type<Line>,
  example: Line,
  { hasStart = true }: { readonly hasStart?: boolean } = {},
): DocumentedStream => ({
  lines: [...(hasStart ? [StreamStartDto, StreamStartThenDto] : []), line, StreamCheckpointDto, StreamEndDto],
  examples: {
    ...(hasStart && {
      start: {
        summary: 'The first line',
        value: { type: 'start', totalCount: 1000, resumeCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU' },
      },
    }),
    [example.type]: { summary: 'A line for each row', value: example },
    checkpoint: {
      summary: 'A line after every 1,000 rows',
      value: { type: 'checkpoint', pageCursor: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU', count: 1000 },
    },
    end: { summary: 'The last line', value: { type: 'end', count: 1000 } },
  },
});
