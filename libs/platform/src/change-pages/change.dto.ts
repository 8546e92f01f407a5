import { ApiProperty } from '@nestjs/swagger';
import { CHANGE_ORIGINS, type Change, type ChangeOrigin } from '#libs/kernel';
import { ApiObject, openEnum } from '../openapi/api-schema.decorator';

@ApiObject({ name: 'ChangeOrigin', description: 'Who made the change. With it a two-way sync skips its own changes.' })
export class ChangeOriginDto {
  @ApiProperty(
    openEnum(
      CHANGE_ORIGINS,
      'API: a request. IMPORT: an import. OPERATOR: the platform’s operators. PERSON: a person of the workspace who used the console.',
    ),
  )
  type!: string;

  @ApiProperty({
    type: 'string',
    required: false,
    maxLength: 200,
    description: 'Client id of the application; only for `API`.',
    example: 'ci_5f0c2e7d2a7c419a',
  })
  clientId?: string;

  @ApiProperty({
    type: 'string',
    required: false,
    maxLength: 64,
    description: '`X-Request-Id` of the request; only for `API`.',
    example: '6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10',
  })
  requestId?: string;

  @ApiProperty({
    format: 'uuid',
    required: false,
    description: 'Id of the person who used the console; only for `PERSON`.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12',
  })
  personId?: string;
}

const CHANGE_TYPES = ['UPSERTED', 'REMOVED'] as const;

/** The members of a change in every feed. Each feed adds its item. */
export abstract class ChangeDto {
  @ApiProperty(openEnum(CHANGE_TYPES, 'UPSERTED: store this state. REMOVED: hidden or deleted.'))
  type!: string;

  @ApiProperty({ format: 'uuid', description: 'Public id.', example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11' })
  id!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Time of the commit, UTC. Changes of one transaction share it, and it never falls.',
    example: '2026-11-02T08:00:00.000Z',
  })
  changedAt!: string;

  @ApiProperty({ type: ChangeOriginDto, description: 'Who made the latest change.' })
  origin!: ChangeOrigin;
}

/** The members that every feed has, in the order of the contract. */
export const toChangeDto = ({ id, changedAt, origin, item }: Change<string, unknown>): ChangeDto => ({
  type: item === null ? 'REMOVED' : 'UPSERTED',
  id,
  changedAt: changedAt.toISOString(),
  origin,
});
