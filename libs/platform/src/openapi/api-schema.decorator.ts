import { ApiSchema } from '@nestjs/swagger';

export interface ObjectSchema {
  /** Name in the contract: the one that the specification uses. */
  readonly name: string;
  readonly description: string;
  /** Null where there is no such object. It must stand here: beside a reference, `nullable` says nothing. */
  readonly nullable?: boolean;
  /** Of a request: a member that is not named is refused. Answers stay open, so that members can be added. */
  readonly additionalProperties?: boolean;
}

/** Names and describes the object of a DTO in the contract. */
export const ApiObject = (schema: ObjectSchema): ClassDecorator =>
  // Nest's decorator copies whatever it is given into the schema, though its type names only two of these.
  ApiSchema(schema as { name: string });

/**
 * A closed list of values, as one schema of the contract that every use refers to. Spread it into the decorator of a member or
 * a query parameter: `@ApiProperty({ ...CLASSIFICATION, description, example })`, with `nullable: true` where null is allowed.
 * Written inline instead, lists of values get colliding names in generated clients.
 */
export const namedEnum = (name: string, values: readonly string[], description: string) => ({
  enum: [...values],
  enumName: name,
  enumSchema: { description, example: values[0] },
});

/** A text that is always the same. A pattern, because generators would make a class of an `enum` of one value. */
export const constant = (value: string) => ({ type: 'string', pattern: `^${value}$`, example: value }) as const;

/**
 * A member of an answer whose values are known today, while more may come: no `enum`, which would have generated clients
 * refuse a new one.
 */
export const openEnum = (values: readonly string[], description: string) => ({
  type: 'string' as const,
  maxLength: 64,
  description: `${description} One of ${values.map((value) => `\`${value}\``).join(', ')}; new values may be added, so accept any.`,
  example: values[0],
  'x-extensible-enum': values,
});
