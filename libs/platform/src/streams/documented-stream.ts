import type { Type } from '@nestjs/common';
import type { DocumentedStream } from '../openapi/api-success.decorator';
import { StreamCheckpointDto, StreamEndDto, StreamStartDto, StreamStartThenDto } from './stream-lines.dto';

/** What the description of a route says of its stream. */
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
