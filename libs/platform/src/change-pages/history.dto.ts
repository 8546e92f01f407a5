import { isDeepStrictEqual } from 'node:util';
import { ApiProperty } from '@nestjs/swagger';
import type { ChangeOrigin, HistoryEntry } from '#libs/kernel';
import { ApiObject } from '../openapi/api-schema.decorator';
import { ChangeOriginDto } from './change.dto';

/** A reference to a schema cannot be null in OpenAPI 3.0, so this is one of its own. */
@ApiObject({
  name: 'HistoryOrigin',
  description: 'Who made the change; null for a state from before the history began of which it is not known.',
  nullable: true,
})
export class HistoryOriginDto extends ChangeOriginDto {}

/** The members of an entry of every history. Each history adds its item. */
export abstract class HistoryEntryDto {
  @ApiProperty({
    format: 'date-time',
    description: 'When the change was committed that made this state, UTC: `changedAt` of the feed.',
    example: '2026-11-02T08:00:00.123Z',
  })
  validFrom!: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When the next change ended it, UTC; null for the present state.',
    example: null,
  })
  validTo!: string | null;

  @ApiProperty({ type: HistoryOriginDto })
  origin!: ChangeOrigin | null;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', maxLength: 64 },
    maxItems: 64,
    description:
      'Members that differ from the state before, without `updatedAt` and `lastCheckedAt`. Empty for the oldest state, for a hidden one and beside one.',
    example: ['completeStatus', 'ownerId', 'ownerSource'],
  })
  changedFields!: readonly string[];
}

/** Members that a change moves without being one. */
const UNTOLD = ['updatedAt', 'lastCheckedAt'];

/** An entry of a history in the order of the contract, with the item as clients see it under its name. */
export function toHistoryEntryDto<Item extends object, Dto extends object, Name extends string>(
  { validFrom, validTo, origin, item, before }: HistoryEntry<Item>,
  name: Name,
  show: (item: Item) => Dto,
) {
  const shown = item && show(item);
  return {
    validFrom: validFrom.toISOString(),
    validTo: validTo?.toISOString() ?? null,
    origin,
    changedFields: shown && before ? differences(shown, show(before)) : [],
    ...({ [name]: shown } as Record<Name, Dto | null>),
  };
}

function differences<Dto extends object>(one: Dto, other: Dto): string[] {
  const names = Object.keys(one) as (keyof Dto & string)[];
  return names.filter((name) => !UNTOLD.includes(name) && !isDeepStrictEqual(one[name], other[name]));
}
