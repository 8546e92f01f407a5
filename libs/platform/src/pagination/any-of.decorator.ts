import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, ValidateBy, type ValidationArguments } from 'class-validator';

const MAX_VALUES = 16;

/** Marks values that the contract shows as a schema of their own. Nest names no schema within an array that has limits. */
export const SCHEMA_NAME = 'x-schema-name';

export interface AnyOfOptions {
  readonly values: readonly string[];
  /** Name of their list in the contract. */
  readonly schemaName: string;
  readonly description: string;
  readonly example: readonly string[];
  /** The filter of one value that must not be sent as well. */
  readonly notWith?: string;
}

/** A filter of 1 to 16 distinct values, separated by commas (additions, section 7). */
export function AnyOf({ values, schemaName, description, example, notWith }: AnyOfOptions): PropertyDecorator {
  const isAlone = ({ object }: ValidationArguments): boolean =>
    notWith === undefined || (object as Record<string, unknown>)[notWith] === undefined;
  const commas = { style: 'form', explode: false };
  return applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      items: { type: 'string', enum: [...values], ...{ [SCHEMA_NAME]: schemaName } },
      ...{ minItems: 1, maxItems: MAX_VALUES, uniqueItems: true, ...commas },
      ...{ description, example: [...example] },
    }),
    IsOptional(),
    ValidateBy({
      name: 'anyOf',
      validator: {
        validate: (value, context) => isAlone(context as ValidationArguments) && isListOf(values, String(value)),
        defaultMessage: (context) =>
          isAlone(context as ValidationArguments)
            ? `${context?.property} must be 1 to ${MAX_VALUES} distinct values of ${values.join(', ')}, separated by commas`
            : `${context?.property} and ${notWith} must not be sent together`,
      },
    }),
  );
}

function isListOf(values: readonly string[], text: string): boolean {
  const listed = text.split(',');
  return (
    listed.length <= MAX_VALUES &&
    new Set(listed).size === listed.length &&
    listed.every((value) => values.includes(value))
  );
}
