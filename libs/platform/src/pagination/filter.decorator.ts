import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { isLongerThan, isStorable, isUuid, parseTimeBound, plusHint } from '#libs/kernel';
import { IsOptional, ValidateBy } from 'class-validator';
import type { namedEnum } from '../openapi/api-schema.decorator';

const BOOLEANS = ['true', 'false'];
const MAX_VALUES = 16;

/** Marks values that the contract shows as a schema of their own. Nest names no schema within an array that has limits. */
export const SCHEMA_NAME = 'x-schema-name';

type NamedEnum = ReturnType<typeof namedEnum>;
type Query = Readonly<Record<string, unknown>>;

interface Shown {
  readonly description: string;
  readonly example: unknown;
}

/** Documents a filter and says which texts it takes, so that each limit stands once. `isIn` is the name of a choice. */
function filter(
  schema: Shown & Readonly<Record<string, unknown>>,
  name: string,
  isValid: (text: string, query: Query) => boolean,
  faultOf: (query: Query, text: string) => string,
): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional(schema as ApiPropertyOptions),
    IsOptional(),
    ValidateBy({
      name,
      validator: {
        validate: (value, context) => isValid(String(value), context?.object as Query),
        defaultMessage: (context) =>
          `${context?.property} ${faultOf(context?.object as Query, String(context?.value))}`,
      },
    }),
  );
}

const choice = (schema: Shown & Readonly<Record<string, unknown>>, values: readonly string[]): PropertyDecorator =>
  filter(
    schema,
    'isIn',
    (text) => values.includes(text),
    () => `must be one of ${values.join(', ')}`,
  );

/** A filter by one value of a list that `namedEnum` names. */
export const OneOf = ({ list, ...shown }: Shown & { readonly list: NamedEnum }): PropertyDecorator =>
  choice({ ...list, ...shown }, list.enum);

export const TrueOrFalse = (shown: Shown): PropertyDecorator => choice({ type: 'boolean', ...shown }, BOOLEANS);

/**
 * A filter by 1 to 16 distinct values of a named list, separated by commas (additions, section 7). `notWith` is the filter
 * by one value, which must not be sent as well.
 */
export function AnyOf(options: Shown & { readonly list: NamedEnum; readonly notWith?: string }): PropertyDecorator {
  const { list, notWith = '', ...shown } = options;
  const isAlone = (query: Query): boolean => query[notWith] === undefined;
  return filter(
    {
      type: 'array',
      items: { type: 'string', enum: list.enum, [SCHEMA_NAME]: list.enumName },
      ...{ minItems: 1, maxItems: MAX_VALUES, uniqueItems: true, style: 'form', explode: false },
      ...shown,
    },
    'anyOf',
    (text, query) => isAlone(query) && isListOf(list.enum, text.split(',')),
    (query) =>
      isAlone(query)
        ? `must be 1 to ${MAX_VALUES} distinct values of ${list.enum.join(', ')}, separated by commas`
        : `and ${notWith} must not be sent together`,
  );
}

const isListOf = (values: readonly string[], listed: readonly string[]): boolean =>
  listed.length <= MAX_VALUES &&
  new Set(listed).size === listed.length &&
  listed.every((value) => values.includes(value));

/** A filter by a text that must be equal, of 1 to `maxLength` characters (additions, section 7). */
export const ExactText = ({ maxLength = 256, ...shown }: Shown & { readonly maxLength?: number }): PropertyDecorator =>
  filter(
    { type: 'string', minLength: 1, maxLength, ...shown },
    'exactText',
    (text) => !isLongerThan(text, maxLength) && isStorable(text),
    () => `must be 1 to ${maxLength} characters, without U+0000 and lone surrogates`,
  );

/** A filter by an e-mail address, of 1 to 256 characters without a space. */
export const ExactEmail = (shown: Shown): PropertyDecorator =>
  filter(
    { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^ ]+$', ...shown },
    'exactEmail',
    (text) => !isLongerThan(text, 256) && isStorable(text) && !text.includes(' '),
    (_, text) => `must be 1 to 256 characters, without spaces, U+0000 and lone surrogates${plusHint(text)}`,
  );

/** A filter by an id. */
export const ExactId = (shown: Shown): PropertyDecorator =>
  filter({ type: 'string', format: 'uuid', ...shown }, 'exactId', isUuid, () => 'must be a UUID');

/** A filter by a time, which is the exclusive end of a span. */
export const Before = (shown: Shown): PropertyDecorator =>
  filter(
    { type: 'string', format: 'date-time', maxLength: 40, ...shown },
    'before',
    (text) => parseTimeBound(text) !== null,
    (_, text) => `must be a date-time such as 2026-01-02T03:04:05Z${plusHint(text)}`,
  );
