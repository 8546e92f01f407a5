// `npm run contract`: generates docs/contract/openapi.json from the code.
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { CONTRACT_FILE } from './contract-files';
import { contractText, generateContract } from './generated-contract';

generateContract()
  .then((contract) => writeFileSync(CONTRACT_FILE, contractText(contract)))
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
