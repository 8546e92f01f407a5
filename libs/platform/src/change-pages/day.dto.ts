import { ApiProperty } from '@nestjs/swagger';
import { Day } from '../input/instant.decorator';

/** Query of counts by day. */
export class DaysQueryDto {
  @Day({ description: 'The first day, UTC. The last one if you leave it out.', example: '2026-11-01' })
  from?: string;

  @Day({
    description: 'The last day, UTC; today if you leave it out. At most 400 days are returned.',
    example: '2026-11-02',
  })
  to?: string;
}

const COUNT = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, example: 12 } as const;

/** A number of items in a response. */
export const ItemCount = (description: string): PropertyDecorator => ApiProperty({ ...COUNT, description });

/** The members of a day in every summary. */
export abstract class DayDto {
  @ApiProperty({ format: 'date', description: 'The day, UTC.', example: '2026-11-24' })
  date!: string;

  @ApiProperty({
    description: 'True for a past day, which shows its last instant. False for today, which shows now.',
    example: true,
  })
  isFinal!: boolean;
}
