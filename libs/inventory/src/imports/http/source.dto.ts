import { ApiProperty } from '@nestjs/swagger';
import { ApiObject, example, openEnum } from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import { type ImportedSource, RUN_OUTCOMES, type RecordedRun } from '../domain/recorded-run';

const count = (description: string, example: number) =>
  ApiProperty({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, example });

const ENDED_AT = '2026-11-02T02:01:12.000Z';
const endOf = (description: string) =>
  ApiProperty({ type: 'string', format: 'date-time', nullable: true, description, example: ENDED_AT });

/** A reference to a schema cannot be null in OpenAPI 3.0, so its own schema is. */
@ApiObject({
  name: 'LastImport',
  description: 'The latest import, however it ended; null where none is recorded.',
  nullable: true,
})
export class LastImportDto {
  @ApiProperty({
    minLength: 1,
    maxLength: 36,
    description: 'Import ID.',
    example: '01234567-89ab-4cde-8f01-23456789abcd',
  })
  id!: string;

  @ApiProperty({ format: 'date-time', description: 'When it began.', example: '2026-11-02T02:00:00.000Z' })
  startedAt!: string;

  @endOf('When it ended, or was found to have ended; null while it runs.')
  endedAt!: string | null;

  @ApiProperty(
    openEnum(
      RUN_OUTCOMES,
      'COMPLETED: the input was read to its end. FAILED: the import ended itself before. INTERRUPTED: an operator ' +
        'ended it, or its process is gone. RUNNING: counts so far.',
    ),
  )
  outcome!: string;

  @count('Records that were read: created, updated, unchanged and failed ones.', 1200)
  read!: number;

  @count('Assets that it created.', 20)
  created!: number;

  @count('Assets that it changed.', 75)
  updated!: number;

  @count('Assets that stayed as they were.', 1100)
  unchanged!: number;

  @count('Assets that it hid, because the input did not name them.', 3)
  hidden!: number;

  @count('Records that were refused.', 5)
  failed!: number;

  @count('Records that were imported without a part of them.', 12)
  warned!: number;

  @count('Items of the input that the map left out. They are not in `read`.', 40)
  skipped!: number;

  @count('Assets that kept their history under a new external ID.', 0)
  rekeyed!: number;

  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: 1000,
    description:
      'Why nothing was hidden, although the import was to hide what its input does not name; otherwise null.',
    example: null,
  })
  hiddenWhy!: string | null;
}

@ApiObject({ name: 'Source', description: 'A system that assets come from.' })
export class SourceDto {
  @ApiProperty({ minLength: 1, maxLength: 100, description: 'Name of the source.', example: 'intune' })
  source!: string;

  @count('Exact number of visible assets of the source.', 1195)
  assetCount!: number;

  @ApiProperty({ type: LastImportDto })
  lastImport!: LastImportDto | null;

  @endOf('When the last completed import ended; null where there is none.')
  lastCompletedAt!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Age in seconds from which the last completed import is stale; null where operators set none.',
    example: 93600,
  })
  staleAfterSeconds!: number | null;
}

@ApiObject({ name: 'SourcePage', description: 'A page of sources.' })
export class SourcePageDto extends pageOf(SourceDto, 'The sources of the page.') {}

const toImportDto = (run: RecordedRun): LastImportDto => ({
  id: run.id,
  startedAt: run.startedAt.toISOString(),
  endedAt: run.endedAt?.toISOString() ?? null,
  outcome: run.outcome,
  read: run.read,
  created: run.created,
  updated: run.updated,
  unchanged: run.unchanged,
  hidden: run.hidden,
  failed: run.failed,
  warned: run.warned,
  skipped: run.skipped,
  rekeyed: run.rekeyed,
  hiddenWhy: run.hiddenWhy,
});

export const toSourceDto = ({ source, assetCount, lastImport, ...times }: ImportedSource): SourceDto => ({
  source,
  assetCount,
  lastImport: lastImport && toImportDto(lastImport),
  lastCompletedAt: times.lastCompletedAt?.toISOString() ?? null,
  staleAfterSeconds: times.staleAfterSeconds,
});

export const SOURCE_PAGE_EXAMPLES = {
  two: example<SourcePageDto>('A source that is imported each night, and one without a recorded import', {
    results: [
      {
        source: 'intune',
        assetCount: 1195,
        lastImport: {
          id: '01234567-89ab-4cde-8f01-23456789abcd',
          startedAt: '2026-11-02T02:00:00.000Z',
          endedAt: ENDED_AT,
          outcome: 'COMPLETED',
          read: 1200,
          created: 20,
          updated: 75,
          unchanged: 1100,
          hidden: 3,
          failed: 5,
          warned: 12,
          skipped: 40,
          rekeyed: 0,
          hiddenWhy: null,
        },
        lastCompletedAt: ENDED_AT,
        staleAfterSeconds: 93600,
      },
      { source: 'legacy', assetCount: 0, lastImport: null, lastCompletedAt: null, staleAfterSeconds: null },
    ],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: 2 },
  }),
};
