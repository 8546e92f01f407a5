import { Ajv, type ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats';
import type { Contract, Schema } from './contract-document';

/** Most of the time goes into compiling: each test file does it anew, for a few hundred answers. */
const QUICK = { validateSchema: false, code: { optimize: false } } as const;

/**
 * Turns schemas of the contract into validators. Strictly: a member that the contract does not name is refused, although
 * clients are told to expect some, and so is a value that an open list of values does not have yet.
 */
export class StrictSchemas {
  private readonly ajv = new Ajv({ ...QUICK, strict: false, formats: { ...fullFormats, password: true } });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(contract: Contract) {
    const schemas = Object.entries(contract.components.schemas).map(([name, schema]) => [name, closed(schema)]);
    this.ajv.addSchema({ $id: 'contract', components: { schemas: Object.fromEntries(schemas) as object } });
  }

  /** Compiles beforehand, where nobody measures time. */
  prepare(schemas: readonly Schema[]): void {
    for (const schema of schemas) this.validatorOf(schema);
  }

  /** What is wrong with a value, in words; null when nothing is. */
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
  const { $ref, properties, items, allOf, 'x-extensible-enum': open, ...rest } = schema;
  if ($ref !== undefined) return { $ref: $ref.replace(/^#/, 'contract#') };
  // Beside a reference `nullable` means: that, or null.
  if (allOf && rest.nullable)
    return { anyOf: [{ allOf: allOf.map(closed) }, { type: 'string', nullable: true, enum: [null] }] };
  return {
    ...rest,
    ...(open ? { enum: rest.nullable ? [...open, null] : open } : {}),
    ...(items ? { items: closed(items) } : {}),
    ...(allOf ? { allOf: allOf.map(closed) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
          additionalProperties: false,
        }
      : {}),
  };
}
