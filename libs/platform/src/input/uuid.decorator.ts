import { assetId, isUuid } from '#libs/kernel';
import { Transform } from 'class-transformer';
import { lengthOf } from './array-length';
import { type Member, check, checkEntries, fromText, member } from './member';

const isUuidText = (value: unknown): boolean => typeof value === 'string' && isUuid(value);
const lowered = (value: unknown): unknown => (typeof value === 'string' ? assetId(value) : value);

/** An id in either case, which becomes lower case. */
export const Uuid = (options: Member): PropertyDecorator =>
  member(
    { type: 'string', format: 'uuid', ...options },
    Transform(({ value }) => lowered(value)),
    check({ code: 'format', isValid: isUuidText, message: 'must be a UUID' }),
  );

/** A list of ids: an array in a body, separated by commas in a query. They become lower case. */
export const Uuids = ({
  example,
  ...options
}: Member & { readonly minItems: number; readonly maxItems: number }): PropertyDecorator =>
  member(
    { type: 'array', items: { type: 'string', format: 'uuid', example }, ...options },
    fromText((text) => text.split(',')),
    Transform(({ value }) => (Array.isArray(value) ? value.map(lowered) : (value as unknown))),
    check({ code: 'format', isValid: Array.isArray, message: 'must be an array' }),
    lengthOf(options),
    checkEntries(isUuidText, 'must be a UUID'),
  );
