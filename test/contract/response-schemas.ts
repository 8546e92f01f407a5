import { Ajv, type ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats';
import type { Contract, Schema } from './contract-document';

/** Compiling takes most of the time. Each worker compiles again for some thousand responses. */
const QUICK = { validateSchema: false, code: { optimize: false } } as const;

/**
 * Compiles schemas of the contract into strict validators. They refuse unknown members, which clients must accept, and
 * values that an open list does not contain.
 */
export class StrictSchemas {
  private readonly ajv = new Ajv({ ...QUICK, strict: false, formats: { ...fullFormats, password: true } });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(contract: Contract) {
    const schemas = Object.entries(contract.components.schemas).map(([name, schema]) => [name, closed(schema)]);
    this.ajv.addSchema({ $id: 'contract', components: { schemas: Object.fromEntries(schemas) as object } });
  }

  /** Compiles in advance, outside measured time. */
  prepare(schemas: readonly Schema[]): void {
    for (const schema of schemas) this.validatorOf(schema);
  }

  /** Describes the fault of a value, or returns null. */
  faultOf(schema: Schema, value: unknown): string | null {
    const validate = this.validatorOf(schema);
    return validate(value) ? null : this.ajv.errorsText(validate.errors, { dataVar: '' });
  }

  private validatorOf(schema: Schema): ValidateFunction {
    const key = schema.$ref ?? JSON.stringify(schema);
    const validate = this.validators.get(key) ?? this.ajv.compile(closed(schema) as object);
    this.validators.set(key, validate);
    return validate;
  }
}

function closed(schema: Schema): Schema {
  const { $ref, properties, items, allOf, oneOf, 'x-extensible-enum': open, ...rest } = schema;
  if ($ref !== undefined) return { $ref: $ref.replace(/^#/, 'contract#') };
  // `nullable` beside a reference allows null.
  if (allOf && rest.nullable)
    return { anyOf: [{ allOf: allOf.map(closed) }, { type: 'string', nullable: true, enum: [null] }] };
  return {
    ...rest,
    ...(open ? { enum: rest.nullable ? [...open, null] : open } : {}),
    ...(items ? { items: closed(items) } : {}),
    ...(allOf ? { allOf: allOf.map(closed) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(closed) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
          additionalProperties: false,
        }
      : {}),
  };
}
