import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../..');

describe('Generated files of the contract', () => {
  it('are what the committed contract generates, every time', () => {
    // A separate process, because jest cannot load prettier. Node 26 warns about a feature that a package uses.
    const quiet = '--disable-warning=ExperimentalWarning';
    const program = [quiet, '--conditions=source', '-r', join(root, 'test/support/typescript-register.cjs')];
    const { status, stderr } = spawnSync(
      process.execPath,
      [...program, join(root, 'test/contract/generated-from-contract.ts'), '--check'],
      { encoding: 'utf8', timeout: 60_000 },
    );
    expect([status, stderr]).toEqual([0, '']);
  });
});
