import { StrictSchemas } from './response-schemas';
import {
  type Contract,
  type Example,
  type Header,
  type MediaType,
  type Parameter,
  type Schema,
  operationsOf,
  readContract,
  resolve,
} from './contract-document';
import { CONTRACT_FILE } from './contract-files';

interface Exemplified {
  readonly place: string;
  readonly schema: Schema;
  readonly value: unknown;
}

function examplesIn(contract: Contract): Exemplified[] {
  const ofContent = (place: string, content: Readonly<Record<string, MediaType>> = {}): Exemplified[] =>
    Object.entries(content).flatMap(([mediaType, { schema, examples = {} }]) =>
      Object.entries(examples).map(([name, example]) => ({
        place: `${place} ${mediaType} ${name}`,
        schema,
        value: resolve<Example>(contract, example).value,
      })),
    );
  const ofOperations = operationsOf(contract).flatMap(({ operation }) => [
    ...ofContent(`${operation.operationId}`, operation.requestBody?.content),
    ...(operation.parameters ?? []).map((one) => {
      const { name, schema, example } = resolve<Parameter>(contract, one);
      return { place: `${operation.operationId} ${name}`, schema, value: example ?? resolve(contract, schema).example };
    }),
    ...Object.entries(operation.responses).flatMap(([status, { headers = {}, content }]) => [
      ...ofContent(`${operation.operationId} ${status}`, content),
      ...Object.entries(headers).map(([name, header]) => {
        const { schema, example } = resolve<Header>(contract, header);
        return { place: `${operation.operationId} ${status} ${name}`, schema, value: example };
      }),
    ]),
  ]);
  const ofMembers = Object.entries(contract.components.schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, { example }]) => example !== undefined)
      .map(([member, schema]) => ({ place: `${name}.${member}`, schema, value: schema.example })),
  );
  return [...ofOperations, ...ofMembers];
}

describe('The examples of the contract', () => {
  const contract = readContract(CONTRACT_FILE);
  const schemas = new StrictSchemas(contract);
  const faultsOf = (examples: readonly Exemplified[]) =>
    examples.flatMap(({ place, schema, value }) => {
      const fault = schemas.faultOf(schema, value);
      return fault === null ? [] : [`${place}: ${fault}`];
    });

  it('match their schemas, without additional members or null where a value exists', () => {
    const examples = examplesIn(contract);
    expect(examples.length).toBeGreaterThan(700);
    expect(faultsOf(examples)).toEqual([]);
  });

  it('name another idempotency key for each write, because a key belongs to one request', () => {
    const keys = examplesIn(contract).filter(({ place }) => place.endsWith(' Idempotency-Key'));
    expect(keys.length).toBeGreaterThanOrEqual(2);
    expect(new Set(keys.map(({ value }) => value)).size).toBe(keys.length);
  });

  it('are refused with an additional member or a value out of range', () => {
    const body = examplesIn(contract).find(({ place }) => place.startsWith('getHealth 200 application')) as Exemplified;
    const size = examplesIn(contract).find(({ place }) => place === 'listAssets pageSize') as Exemplified;
    const planted = [
      { ...body, value: { ...(body.value as object), more: 1 } },
      { ...size, value: 101 },
    ];
    expect(faultsOf(planted)).toHaveLength(2);
  });
});
