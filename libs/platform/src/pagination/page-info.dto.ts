import { ApiProperty } from '@nestjs/swagger';

export class PageInfoDto {
  @ApiProperty({ description: 'True when more results follow.' })
  hasNextPage!: boolean;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Opaque cursor of the next page; null when `hasNextPage` is false.',
  })
  endCursor!: string | null;

  @ApiProperty({ type: 'integer', format: 'int64', description: 'Exact number of matches across all pages.' })
  totalCount!: number;
}
