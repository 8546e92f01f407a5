import { assetId, isUuid } from '#libs/kernel';
import { Transform } from 'class-transformer';
import { type Member, check, checkEntries, fromText, lengthOf, member } from './member';

const MAX_IDS = 100;

const isUuidText = (value: unknown): boolean => typeof value === 'string' && isUuid(value);
const isListOfUuids = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= MAX_IDS && value.every(isUuidText);
const lowered = (value: unknown): unknown => (typeof value === 'string' ? assetId(value) : value);

/** An id in either case, which becomes lower case. */
export const Uuid = (options: Member): PropertyDecorator =>
  member(
    { type: 'string', format: 'uuid', ...options },
    Transform(({ value }) => lowered(value)),
    check({ code: 'format', isValid: isUuidText, message: 'must be a UUID' }),
  );

/** A filter by 1 to 100 distinct ids, separated by commas. They become lower case. */
export const DistinctUuids = (options: Member): PropertyDecorator =>
  member(
    {
      type: 'array',
      items: { type: 'string', format: 'uuid' },
      ...{ minItems: 1, maxItems: MAX_IDS, uniqueItems: true, style: 'form', explode: false },
      ...options,
    },
    fromText((text) => text.split(',').map(lowered)),
    check({
      code: 'format',
      isValid: (ids) => isListOfUuids(ids) && new Set(ids).size === ids.length,
      message: `must be 1 to ${MAX_IDS} distinct UUIDs, separated by commas`,
    }),
  );

/** An array of ids in a body. They become lower case. */
export const Uuids = ({
  example,
  ...options
}: Member & { readonly minItems: number; readonly maxItems: number }): PropertyDecorator =>
  member(
    { type: 'array', items: { type: 'string', format: 'uuid', example }, ...options },
    Transform(({ value }) => (Array.isArray(value) ? value.map(lowered) : (value as unknown))),
    check({ code: 'format', isValid: Array.isArray, message: 'must be an array' }),
    lengthOf(options),
    checkEntries(isUuidText, 'must be a UUID'),
  );
