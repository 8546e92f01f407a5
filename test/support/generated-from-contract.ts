import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { postmanCollection } from './postman-collection';

// `npm run generate` writes what follows from the committed contract; with `--check` it only says what is not up to date.

const root = join(__dirname, '../..');
const contractFile = join(root, 'docs/contract/openapi.json');

const HEADER =
  '// Generated from docs/contract/openapi.json by `npm run generate`; a test finds what was edited by hand.\n\n';

async function clientTypes(contract: object): Promise<string> {
  return HEADER + astToString(await openapiTS(JSON.stringify(contract), { alphabetize: true }));
}

const PRODUCTS = [
  { file: join(root, 'libs/client/src/contract.ts'), generate: clientTypes },
  { file: join(root, 'docs/contract/postman-collection.json'), generate: postmanCollection },
];

async function main(): Promise<void> {
  const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as object;
  const check = process.argv.includes('--check');
  for (const { file, generate } of PRODUCTS) {
    const text = await format(await generate(contract), { ...(await resolveConfig(file)), filepath: file });
    if (!check) writeFileSync(file, text);
    else if (readFileSync(file, 'utf8') !== text) {
      process.stderr.write(`${relative(root, file)} does not follow from the contract: run \`npm run generate\`.\n`);
      process.exitCode = 1;
    }
  }
}

void main();
