import { type Member, type NamedEnum, NotBeside, check, fromText, member } from './member';

const MAX_VALUES = 16;

/** Marks values that the contract shows as a schema of their own. Nest names no schema within an array that has limits. */
export const SCHEMA_NAME = 'x-schema-name';

/** One value of a list that `namedEnum` names. */
export const Choice = ({ list, ...options }: Member & { readonly list: NamedEnum }): PropertyDecorator =>
  member(
    { ...list, ...options },
    check({
      code: 'choice',
      isValid: (value) => list.enum.includes(value as string),
      message: `must be one of ${list.enum.join(', ')}`,
    }),
  );

/** True or false: one of two texts in a query; a value of that type in a body, where it may be null. */
export const Flag = (options: Member): PropertyDecorator =>
  member(
    { type: 'boolean', ...options },
    fromText((text) => (text === 'true' || text === 'false' ? text === 'true' : text)),
    check({
      code: options.nullable ? 'format' : 'choice',
      isValid: (value) => typeof value === 'boolean',
      message: 'must be true or false',
    }),
  );

/**
 * A list of 1 to 16 distinct values of a named list, which a query separates by commas. `notWith` is the parameter for one
 * value, which must not be sent as well.
 */
export function ChoiceList(
  options: Member & { readonly list: NamedEnum; readonly notWith?: string },
): PropertyDecorator {
  const { list, notWith, ...described } = options;
  const isListed = (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length <= MAX_VALUES &&
    new Set(value).size === value.length &&
    value.every((one) => list.enum.includes(one as string));
  return member(
    {
      type: 'array',
      items: { type: 'string', enum: list.enum, [SCHEMA_NAME]: list.enumName },
      ...{ minItems: 1, maxItems: MAX_VALUES, uniqueItems: true, style: 'form', explode: false },
      ...described,
    },
    fromText((text) => text.split(',')),
    check({
      code: 'format',
      isValid: isListed,
      message: `must be 1 to ${MAX_VALUES} distinct values of ${list.enum.join(', ')}, separated by commas`,
    }),
    ...(notWith === undefined ? [] : [NotBeside([notWith])]),
  );
}
