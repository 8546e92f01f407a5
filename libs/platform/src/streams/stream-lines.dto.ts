import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApiObject, constant } from '../openapi/api-schema.decorator';
import { CURSOR } from '../pagination/page.dto';

const ROWS = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

@ApiObject({ name: 'StreamStart', description: 'The first line of a stream.' })
export class StreamStartDto {
  @ApiProperty({ ...constant('start'), description: 'Type of the line.' })
  type!: string;

  @ApiProperty({ ...ROWS, description: 'Exact number of matches when the stream began.', example: 2 })
  totalCount!: number;

  @ApiPropertyOptional({
    ...CURSOR,
    description: 'Cursor of the change feed, taken before the first row; absent when the stream is resumed.',
  })
  resumeCursor?: string;

  @ApiPropertyOptional({ description: 'True when the stream continues from a checkpoint.', example: true })
  resumed?: boolean;
}

@ApiObject({ name: 'StreamStartThen', description: 'The first line of a stream with `asOf`.' })
export class StreamStartThenDto {
  @ApiProperty({ ...constant('start'), description: 'Type of the line.' })
  type!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'The instant that the stream shows, UTC.',
    example: '2026-11-01T00:00:00.000Z',
  })
  asOf!: string;

  @ApiPropertyOptional({ description: 'True when the stream continues from a checkpoint.', example: true })
  resumed?: boolean;
}

@ApiObject({
  name: 'StreamCheckpoint',
  description: 'A line after every 1,000 rows, from which a cut stream can be resumed.',
})
export class StreamCheckpointDto {
  @ApiProperty({ ...constant('checkpoint'), description: 'Type of the line.' })
  type!: string;

  @ApiProperty({
    ...CURSOR,
    description: 'Send it as `pageCursor` to resume the stream after this line.',
  })
  pageCursor!: string;

  @ApiProperty({ ...ROWS, description: 'Rows so far, including those before a cut.', example: 1000 })
  count!: number;
}

@ApiObject({ name: 'StreamEnd', description: 'The last line. Without it the response is not complete.' })
export class StreamEndDto {
  @ApiProperty({ ...constant('end'), description: 'Type of the line.' })
  type!: string;

  @ApiProperty({ ...ROWS, description: 'All rows, including those before a cut.', example: 2 })
  count!: number;
}
