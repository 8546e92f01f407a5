import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import type { namedEnum } from '../openapi/api-schema.decorator';

export type NamedEnum = ReturnType<typeof namedEnum>;

/** A member of a query, a body or a form, as the contract shows it. */
export interface Member {
  readonly description: string;
  readonly example?: unknown;
  /** Such a member must be there, and not be null. Any other may be absent. */
  readonly required?: boolean;
  /** Such a member must be there unless the named one is. */
  readonly requiredWithout?: string;
  /** True for members of a body that may be null. A null passes every check. */
  readonly nullable?: boolean;
}

/** The class-transformer group of texts: what a query or a form holds. A body holds values. */
export const TEXTS = 'texts';

/** Documents a member, and says how it is converted and checked. */
export function member(
  { required = false, requiredWithout, ...schema }: Member & Readonly<Record<string, unknown>>,
  ...reading: readonly PropertyDecorator[]
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...schema, required } as ApiPropertyOptions),
    ...presence(required, requiredWithout),
    ...reading,
  );
}

/** Converts a text of a query or form. A text that `read` cannot convert stays as it is, and a check refuses it. */
export const fromText = (read: (text: string) => unknown): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? read(value) : value), { groups: [TEXTS] });

/** One check of a member. Null is not checked. */
interface Check {
  /** The fault for programs: `format`, `length`, `choice` … */
  readonly code: string;
  /** `object` holds the other members. */
  readonly isValid: (value: unknown, object: Readonly<Record<string, unknown>>) => boolean;
  /** Follows the member's name: "must be a UUID". */
  readonly message: string | ((value: unknown) => string);
}

/** Adds a check. The first that fails of a member's checks is told. */
export const check = ({ code, isValid, message }: Check): PropertyDecorator =>
  ValidateBy({
    name: code,
    validator: {
      validate: (value, context) =>
        value == null || isValid(value, (context?.object ?? {}) as Readonly<Record<string, unknown>>),
      defaultMessage: (context) => `$property ${typeof message === 'string' ? message : message(context?.value)}`,
    },
  });

/** Limits the number of entries of an array. */
export const lengthOf = ({ minItems = 0, maxItems }: { readonly minItems?: number; readonly maxItems: number }) =>
  check({
    code: 'length',
    isValid: (value) => (value as unknown[]).length >= minItems && (value as unknown[]).length <= maxItems,
    message: `must have ${minItems} to ${maxItems} entries`,
  });

/** The check of entries in class-validator's errors. Its context finds the indexes at fault. */
export const ENTRIES = 'entries';

/** Checks each entry of an array, so that a fault names its index. */
export function checkEntries(isValid: (entry: unknown) => boolean, message: string): PropertyDecorator {
  const atFault = (value: readonly unknown[]): number[] => [...value.keys()].filter((index) => !isValid(value[index]));
  return ValidateBy(
    {
      name: ENTRIES,
      validator: {
        validate: (value) => value == null || (value as unknown[]).every(isValid),
        defaultMessage: () => `$property ${message}`,
      },
    },
    { context: { atFault } },
  );
}

/** Refuses a member beside others. */
export const NotBeside = (others: readonly string[]): PropertyDecorator =>
  check({
    code: 'format',
    isValid: (_, object) => others.every((other) => object[other] == null),
    message: `and ${others.join(' or ')} must not be sent together`,
  });

/** Says when a member is checked, and when it must be there. */
function presence(required: boolean, unless?: string): PropertyDecorator[] {
  if (!required && unless === undefined) return [IsOptional()];
  const isNeeded = ValidateBy({
    name: 'required',
    validator: { validate: (value) => value != null, defaultMessage: () => '$property is required' },
  });
  return unless === undefined
    ? [isNeeded]
    : [isNeeded, ValidateIf((body: Readonly<Record<string, unknown>>, value) => value != null || body[unless] == null)];
}
