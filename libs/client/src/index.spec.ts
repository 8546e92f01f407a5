import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ComplianceClient } from '.';

const textOf = (path: string): string => readFileSync(join(__dirname, path), 'utf8');

describe('The client package', () => {
  it('exports every type of a request or response', () => {
    const types = [...textOf('resources.ts').matchAll(/^export (?:type|interface) (\w+) /gm)].map(([, name]) => name);

    expect(types).toContain('Asset');
    expect(types.filter((name) => !textOf('index.ts').includes(`  type ${name},`))).toEqual([]);
  });

  it('lists every method in its README', () => {
    const [, methods = ''] = /^## Methods\n([^]*?)\n## /m.exec(textOf('../README.md')) ?? [];
    const names = Object.getOwnPropertyNames(ComplianceClient.prototype).filter((name) => name !== 'constructor');

    expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(methods))).toEqual([]);
  });
});
