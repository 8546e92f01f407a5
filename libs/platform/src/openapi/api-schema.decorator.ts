import { ApiSchema } from '@nestjs/swagger';

export interface ObjectSchema {
  /** Name in the contract, taken from the specification. */
  readonly name: string;
  readonly description: string;
  /** True when the object may be null. Must be part of the schema: `nullable` beside a reference has no effect. */
  readonly nullable?: boolean;
  /** False for requests, which refuse unknown members. Responses stay open, so that members can be added. */
  readonly additionalProperties?: boolean;
}

/** Names and describes the object of a DTO in the contract. */
export const ApiObject = (schema: ObjectSchema): ClassDecorator =>
  // Nest's decorator copies every member into the schema, although its type has only two of these.
  ApiSchema(schema as { name: string });

/**
 * A closed list of values as one named schema of the contract. Spread it into the decorator of a member or query
 * parameter: `@ApiProperty({ ...CLASSIFICATION, description, example })`, with `nullable: true` where null is allowed.
 * Inline lists get colliding names in generated clients.
 */
export const namedEnum = (name: string, values: readonly string[], description: string) => ({
  enum: [...values],
  enumName: name,
  enumSchema: { description, example: values[0] },
});

/** A constant text. Uses a pattern, because generators would turn an `enum` of one value into a class. */
export const constant = (value: string) => ({ type: 'string', pattern: `^${value}$`, example: value }) as const;

/**
 * A response member with known values to which more may be added. Has no `enum`, because generated clients would refuse
 * a new value.
 */
export const openEnum = (values: readonly string[], description: string) => ({
  type: 'string' as const,
  maxLength: 64,
  description: `${description} One of ${values.map((value) => `\`${value}\``).join(', ')}; new values may be added, so accept any.`,
  example: values[0],
  'x-extensible-enum': values,
});

/** Marks {@link ANY_VALUE} until `completeContract` takes the mark and the type away: Nest always gives a type. */
export const ANY_VALUE_MARK = 'x-any-value';

/**
 * A response member of any JSON type, null included; its description says which. Not `anyOf`: Java's generator writes
 * invalid code for an alternative that is an array or a map.
 */
export const ANY_VALUE = { [ANY_VALUE_MARK]: true };
