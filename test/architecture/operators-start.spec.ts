import { execFileSync } from 'node:child_process';
import { root } from './project-files';

const LOADED = `require('#libs/inventory/operators');
  console.log(Object.keys(require.cache).filter((path) => /class-validator|@nestjs.swagger/.test(path)).length)`;

describe('What operators use of the inventory', () => {
  it('loads nothing for HTTP, which every command would wait for', () => {
    const register = ['--conditions=source', '-r', './test/support/typescript-register.cjs'];

    expect(
      execFileSync(process.execPath, [...register, '-e', LOADED], { cwd: root })
        .toString()
        .trim(),
    ).toBe('0');
  });
});
