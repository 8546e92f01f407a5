import { readFileSync } from 'node:fs';

/** The parts of OpenAPI 3.0 that this contract uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly nullable?: boolean;
  readonly enum?: readonly (string | null)[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly 'x-extensible-enum'?: readonly string[];
  readonly 'x-unbounded'?: string;
}

export interface Reference {
  readonly $ref: string;
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Header {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example | Reference>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface RequestBody {
  readonly required?: boolean;
  readonly description?: string;
  readonly content: Readonly<Record<string, MediaType>>;
}

export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response>>;
  readonly security?: readonly SecurityRequirement[];
}

export interface Contract {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, Example>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export const readContract = (file: string): Contract => JSON.parse(readFileSync(file, 'utf8')) as Contract;

/** Follows a reference within the document, or returns the thing itself. */
export function resolve<Thing extends object>(contract: Contract, thing: Thing | Reference): Thing {
  if (!('$ref' in thing) || typeof thing.$ref !== 'string') return thing as Thing;
  const steps = thing.$ref.replace(/^#\//, '').split('/');
  const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], contract);
  if (found === undefined) throw new Error(`${thing.$ref} leads nowhere.`);
  return resolve(contract, found as Thing | Reference);
}

export interface NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Returns every operation with its method in upper case. */
export function operationsOf(contract: Contract): NamedOperation[] {
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}
