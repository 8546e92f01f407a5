import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { feedPageOf } from '#libs/platform/change-pages';
import { ANY_VALUE, ApiObject, constant, openEnum } from '#libs/platform/openapi';
import { ACTIONS, TARGET_TYPES } from '../domain/audit-act';

const ACTOR_TYPES = ['APPLICATION', 'OPERATOR', 'IMPORT', 'PERSON'] as const;

const VALUE_TYPES = 'a text, an integer, a boolean, an array of texts or an object of texts';

@ApiObject({ name: 'AuditActor', description: 'Who acted.' })
export class AuditActorDto {
  @ApiProperty(
    openEnum(
      ACTOR_TYPES,
      'APPLICATION: a request. OPERATOR: the platform’s operators. IMPORT: an import of theirs. PERSON: a person of the workspace who used the console.',
    ),
  )
  type!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: 200,
    description: 'Client id of the application; null where none acted.',
    example: 'ci_5f0c2e7d2a7c419a',
  })
  clientId!: string | null;

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    maxLength: 64,
    description:
      'Name of the operator, or of whoever ran the import; null for an application. Absent in events from before names ' +
      'were recorded.',
    example: null,
  })
  name?: string | null;

  @ApiPropertyOptional({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description:
      'Id of the person who used the console; null where nobody did. Absent in events from before names were recorded.',
    example: null,
  })
  personId?: string | null;
}

@ApiObject({ name: 'AuditTarget', description: 'What it happened to.' })
export class AuditTargetDto {
  @ApiProperty(openEnum(TARGET_TYPES, 'The kind of the target.'))
  type!: string;

  @ApiProperty({
    maxLength: 1000,
    description:
      'Id of the asset or person, client id of the application, the tag key, the import source, or the name of the list.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
  })
  id!: string;
}

@ApiObject({ name: 'AuditRequest', description: 'The request that caused the event.' })
export class AuditRequestDto {
  @ApiProperty({
    type: 'string',
    nullable: true,
    maxLength: 64,
    description: '`X-Request-Id` of the response; null where no request caused the event.',
    example: '6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10',
  })
  id!: string | null;
}

@ApiObject({ name: 'AuditChange', description: 'One changed value.' })
export class AuditChangeDto {
  @ApiProperty({ maxLength: 64, description: 'Name of the field.', example: 'ownerId' })
  field!: string;

  @ApiProperty({
    ...ANY_VALUE,
    description: `The value before: ${VALUE_TYPES}; null where there was none.`,
    example: null,
  })
  old!: unknown;

  @ApiProperty({
    ...ANY_VALUE,
    description: `The value after: ${VALUE_TYPES}; null where there is none.`,
    example: 'PUBLIC',
  })
  new!: unknown;
}

@ApiObject({ name: 'AuditEvent', description: 'One event of the audit. It never changes.' })
export class AuditEventDto {
  @ApiProperty({ format: 'uuid', description: 'Id of the event.', example: '01a20add-a4f2-7313-a0d8-098be14f2340' })
  id!: string;

  @ApiProperty({
    type: 'integer',
    format: 'int64',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Place in the audit of the workspace: it begins at 1 and has no gaps.',
    example: 4711,
  })
  sequence!: number;

  @ApiProperty({
    format: 'date-time',
    description: 'When it happened, UTC, by the clock of the instance.',
    example: '2026-11-02T08:00:00.000Z',
  })
  occurredAt!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'When the event got its sequence, UTC. It never falls while sequences grow.',
    example: '2026-11-02T08:00:04.120Z',
  })
  recordedAt!: string;

  @ApiProperty(openEnum(ACTIONS, 'What happened.'))
  action!: string;

  @ApiProperty({ type: AuditActorDto, description: 'Who acted.' })
  actor!: AuditActorDto;

  @ApiProperty({ type: AuditTargetDto, description: 'What it happened to.' })
  target!: AuditTargetDto;

  @ApiProperty({ type: AuditRequestDto, description: 'The request that caused it.' })
  request!: AuditRequestDto;

  @ApiProperty({
    type: [AuditChangeDto],
    maxItems: 100,
    description: 'The values that changed, sorted by field; tags are arrays of keys.',
  })
  changes!: readonly AuditChangeDto[];

  @ApiProperty({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 of the byte 0x00 and the RFC 8785 form of the event without this member, in lower-case hexadecimal.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  leafHash!: string;
}

@ApiObject({ name: 'AuditEventPage', description: 'A page of audit events.' })
export class AuditEventPageDto extends feedPageOf(AuditEventDto, {
  results: 'Events in the order of their sequence.',
  pageInfo: 'Whether more events follow.',
}) {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Age of the oldest event that is not in the list yet, in seconds, rounded up. 0 when there is none.',
    example: 0,
  })
  lagSeconds!: number;
}

@ApiObject({ name: 'AuditEventLine', description: 'A line of a stream with an audit event.' })
export class AuditEventLineDto {
  @ApiProperty({ ...constant('event'), description: 'What the line is.' })
  type!: string;

  @ApiProperty({ type: AuditEventDto, description: 'The event.' })
  event!: AuditEventDto;
}
