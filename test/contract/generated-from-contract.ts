import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { type Contract, type Reference, type Response, operationsOf, readContract } from './contract-document';
import { CONTRACT_FILE } from './contract-files';
import { postmanCollection } from './postman-collection';

// `npm run generate`: writes all files generated from the committed contract. With `--check` it only lists outdated
// ones.

const root = join(__dirname, '../..');
const TYPES_FILE = join(root, 'libs/client/src/contract.ts');

const HEADER =
  '// Generated from docs/contract/openapi.json by `npm run generate`; a test finds what was edited by hand.\n\n';

async function clientTypes(contract: Contract): Promise<string> {
  // TypeScript 7 reads the package's types for `import` alone.
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const types = astToString(await openapiTS(JSON.stringify(withNamedProblems(contract)), { alphabetize: true }));
  const codes = problemCodesOf(contract).map((code) => `'${code}'`);
  const problemCode = `/** Every code of the contract. */\nexport type ProblemCode = ${codes.join(' | ')};\n`;
  return format(`${HEADER}${types}\n${problemCode}`, { ...(await resolveConfig(TYPES_FILE)), filepath: TYPES_FILE });
}

/** Names each response with a problem, by status and codes. So the types state it once instead of in each operation. */
function withNamedProblems(contract: Contract): object {
  const copy = structuredClone(contract);
  const responses: Record<string, Response> = {};
  const referTo = (status: string, response: Response): Reference => {
    const codes = Object.values(response.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples));
    for (let name = [status, ...new Set(codes)].join('.'); ; name += '_') {
      responses[name] ??= response;
      if (isDeepStrictEqual(responses[name], response)) return { $ref: `#/components/responses/${name}` };
    }
  };
  for (const { operation } of operationsOf(copy)) {
    const named = operation.responses as Record<string, Response | Reference>;
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status >= '400') named[status] = referTo(status, response);
    }
  }
  return { ...copy, components: { ...copy.components, responses } };
}

/** The contract leaves `code` open for new values and lists the current ones. */
function problemCodesOf({ components }: Contract): string[] {
  return [...(components.schemas['Problem']?.properties?.['code']?.['x-extensible-enum'] ?? [])].sort();
}

const PRODUCTS = [
  { file: TYPES_FILE, generate: clientTypes },
  { file: join(root, 'docs/contract/postman-collection.json'), generate: postmanCollection },
];

async function main(): Promise<void> {
  const contract = readContract(CONTRACT_FILE);
  const check = process.argv.includes('--check');
  for (const { file, generate } of PRODUCTS) {
    const text = await generate(contract);
    if (!check) writeFileSync(file, text);
    else if (readFileSync(file, 'utf8') !== text) {
      process.stderr.write(`${relative(root, file)} does not follow from the contract: run \`npm run generate\`.\n`);
      process.exitCode = 1;
    }
  }
}

void main();
