import { readFileSync } from 'node:fs';
import { CONTRACT_FILE } from './contract-files';
import { contractText, generateContract } from './generated-contract';

describe('The committed contract', () => {
  it('equals the one that the code generates', async () => {
    const committed = readFileSync(CONTRACT_FILE, 'utf8');
    const generated = contractText(await generateContract());
    if (committed === generated) return;
    const lines = committed.split('\n');
    const at = generated.split('\n').findIndex((line, index) => line !== lines[index]);
    throw new Error(
      `docs/contract/openapi.json is not what the code says, from line ${at + 1} on. If the change is meant, ` +
        'run `npm run contract` and commit the file.',
    );
  });
});
