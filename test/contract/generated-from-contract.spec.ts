import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../..');

describe('The client’s types and the Postman collection', () => {
  it('are what the committed contract gives, each time it is asked', () => {
    // A process of its own: prettier loads itself in a way that jest cannot follow.
    const program = ['--conditions=source', '-r', join(root, 'test/support/typescript-register.cjs')];
    const { status, stderr } = spawnSync(
      process.execPath,
      [...program, join(root, 'test/contract/generated-from-contract.ts'), '--check'],
      { encoding: 'utf8', timeout: 60_000 },
    );
    expect([status, stderr]).toEqual([0, '']);
  });
});
