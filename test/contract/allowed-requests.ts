import fc from 'fast-check';
import { anyCharacter } from './any-character';
import { StrictSchemas } from './response-schemas';
import {
  type Contract,
  type NamedOperation,
  type Parameter,
  type Schema,
  operationsOf,
  resolve,
} from './contract-document';

/** A request that the contract allows, ready to send. */
export interface AllowedRequest {
  readonly operationId: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Existing values of the tested service, by the name of a parameter or member, or by operation and name. `weight` to 4
 * is the ratio of these values to arbitrary ones that the schema allows.
 */
export type KnownValues = Readonly<Record<string, { readonly values: readonly string[]; readonly weight: number }>>;

/** Generates requests from the contract alone, sometimes with existing values. */
export class AllowedRequests {
  private readonly schemas: StrictSchemas;

  constructor(
    private readonly contract: Contract,
    private readonly known: KnownValues,
  ) {
    this.schemas = new StrictSchemas(contract);
  }

  /** Generates any request of any operation. */
  any(): fc.Arbitrary<AllowedRequest> {
    return fc.oneof(...operationsOf(this.contract).map((one) => this.requestOf(one)));
  }

  private requestOf({ method, path, operation }: NamedOperation): fc.Arbitrary<AllowedRequest> {
    const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(this.contract, one));
    const valuesIn = (place: Parameter['in']) =>
      fc.record(
        Object.fromEntries(
          parameters
            .filter((one) => one.in === place)
            .map((one) => [one.name, this.valueOf(one.schema, one.name, operation.operationId)]),
        ),
        { requiredKeys: parameters.filter((one) => one.in === place && one.required).map((one) => one.name) },
      ) as fc.Arbitrary<Record<string, unknown>>;
    const contents = Object.entries(operation.requestBody?.content ?? {});
    const body =
      contents.length === 0
        ? fc.constant(null)
        : fc.oneof(
            ...contents.map(([mediaType, { schema }]) =>
              this.valueOf(schema, 'body').map((value) => ({ mediaType, value })),
            ),
          );
    return fc
      .record({ path: valuesIn('path'), query: valuesIn('query'), header: valuesIn('header').filter(isSendable), body })
      .map((parts) => ({
        operationId: operation.operationId ?? '',
        method,
        target: targetOf(path, parts.path, parts.query),
        headers: {
          ...Object.fromEntries(Object.entries(parts.header).map(([name, value]) => [name, bytesOf(String(value))])),
          ...(parts.body ? { 'Content-Type': parts.body.mediaType } : {}),
        },
        ...(parts.body ? { body: written(parts.body) } : {}),
      }));
  }

  private valueOf(given: Schema, name: string, operationId = ''): fc.Arbitrary<unknown> {
    const schema = flattened(this.contract, given);
    const known = this.known[`${operationId}.${name}`] ?? this.known[name];
    const anything = this.plainValueOf(schema);
    const value = known
      ? fc.oneof(
          { weight: known.weight, arbitrary: fc.constantFrom(...known.values) },
          { weight: 4, arbitrary: anything },
        )
      : anything;
    return schema.nullable ? fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null)) : value;
  }

  private plainValueOf(schema: Schema): fc.Arbitrary<unknown> {
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000 });
      case 'array': {
        const { minItems = 0, maxItems = 10, items = {} } = schema;
        return fc.array(this.valueOf(items, 'item'), { minLength: minItems, maxLength: maxItems });
      }
      case 'object':
        return this.objectOf(schema);
      default:
        return textOf(schema).filter((text) => this.schemas.faultOf(schema, text) === null);
    }
  }

  private objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
    const members = Object.entries(properties).map(([name, schema]) => [name, this.valueOf(schema, name)] as const);
    return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: [...required],
    });
  }
}

/** Candidates. Values that the schema forbids are filtered out later. */
function textOf({ format, pattern, minLength = 0, maxLength = 100 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid')
    return fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
    );
  if (format === 'date-time' || format === 'date') {
    const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    return date.map((time) => time.toISOString().slice(0, format === 'date' ? 10 : undefined));
  }
  // Even U+0000.
  const any = fc.string({ unit: anyCharacter, minLength, maxLength });
  return pattern ? fc.oneof(any, fc.stringMatching(new RegExp(pattern))) : any;
}

function targetOf(path: string, steps: Record<string, unknown>, query: Record<string, unknown>): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(steps[name])));
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

function written({ mediaType, value }: { readonly mediaType: string; readonly value: unknown }): string {
  return mediaType === 'application/x-www-form-urlencoded'
    ? new URLSearchParams(value as Record<string, string>).toString()
    : JSON.stringify(value);
}

/** HTTP headers cannot contain control characters. */
const isSendable = (headers: Record<string, unknown>): boolean =>
  Object.values(headers).every((value) => !/[\u0000-\u001f\u007f]/.test(String(value)));

/** Headers carry bytes: UTF-8 text, with each byte as one character. */
const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function flattened(contract: Contract, schema: Schema): Schema {
  const { allOf, ...own } = resolve<Schema>(contract, schema as Schema & { $ref: string });
  return (allOf ?? []).reduce<Schema>((all, part) => ({ ...flattened(contract, part), ...all }), own);
}
