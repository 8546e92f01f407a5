// `npm run contract:check`: lists breaking changes from the released contract to the committed one. Exits with 1 if
// there are any.
import { breakingChanges } from './breaking-changes';
import { readContract } from './contract-document';
import { CONTRACT_FILE, RELEASED_FILE } from './contract-files';

const changes = breakingChanges(readContract(RELEASED_FILE), readContract(CONTRACT_FILE));
for (const change of changes) process.stdout.write(`${change}\n`);
process.stdout.write(changes.length === 0 ? 'additive\n' : `${changes.length} breaking changes\n`);
process.exitCode = changes.length === 0 ? 0 : 1;
