import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { explorerDocument } from './explorer-document';

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly example?: unknown;
  readonly schema: { readonly example?: unknown };
}

describe('The contract in Swagger UI', () => {
  const text = readFileSync(join(__dirname, '../../../../docs/contract/openapi.json'), 'utf8');
  const contract = JSON.parse(text) as OpenAPIObject;
  const document = explorerDocument(contract);
  const operations = Object.values(document.paths).flatMap(({ get, post, patch }) =>
    [get, post, patch].filter((operation) => operation !== undefined),
  );
  const parameters = [
    ...operations.flatMap((operation) => operation.parameters ?? []),
    ...Object.values(document.components?.parameters ?? {}),
  ].filter((parameter) => 'name' in parameter) as unknown as Parameter[];

  it('leaves the contract itself unchanged', () => expect(JSON.parse(text)).toEqual(contract));

  it('begins with the inventory, and ends with what every client needs once', () => {
    const names = document.tags?.map(({ name }) => name);

    expect(names).toEqual(['Inventory', 'Computers', 'Audit', 'Authentication', 'Health']);
    expect(contract.tags?.map(({ name }) => name).sort()).toEqual(names?.sort());
  });

  it('shows examples of parameters without filling them in', () => {
    expect(parameters.length).toBeGreaterThan(10);
    for (const { name, example, schema } of parameters) {
      expect([name, example, schema.example]).toEqual([name, undefined, undefined]);
    }
    const { AssetCategoryKey } = document.components?.schemas ?? {};
    expect(AssetCategoryKey).not.toHaveProperty('example');
    expect(parameters.find(({ name }) => name === 'If-Match')?.description).toMatch(/Example: `"7"`$/);
  });

  it('says beside the key that it is fresh, and how to see a replay', () => {
    const keys = parameters.filter(({ name }) => name === 'Idempotency-Key');
    expect(keys).toHaveLength(2);
    for (const { description } of keys) expect(description).toMatch(/fresh key for each try.*replay/);
  });

  it('explains the one-token rule beside the only way to authorize', () => {
    const schemes = document.components?.securitySchemes ?? {};
    expect(Object.keys(schemes)).toEqual(['clientCredentials']);
    expect(JSON.stringify(schemes)).toContain('One token is active per application.');
    for (const { security } of operations) {
      for (const name of (security ?? []).flatMap((requirement) => Object.keys(requirement))) {
        expect(schemes).toHaveProperty(name);
      }
    }
  });

  it('addresses customers, who start nothing themselves', () => {
    expect(JSON.stringify(document)).not.toMatch(/\bnpm\b|\.local\b/);
  });

  it('lists the headers of every response once per operation', () => {
    const { responses } = document.paths['/v1/inventory/assets']?.get as unknown as {
      responses: Record<string, { headers: object }>;
    };
    expect(responses['200']?.headers).toHaveProperty('X-Request-Id');
    expect(Object.keys(responses['401']?.headers ?? {})).toEqual(['WWW-Authenticate']);
    expect(Object.keys(responses['429']?.headers ?? {})).toEqual(['Retry-After']);
  });

  it('offers first a body that fits every asset', () => {
    const body = JSON.stringify(document.paths['/v1/inventory/assets/{id}']?.patch?.requestBody);
    expect(body).toContain('"examples":{"first":{"summary":"Set the description","value":{"description":"Reviewed"}}');
  });
});
