import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packedStart } from '../support/module-pack/module-pack';

/** Loads the API, and prints how many compiled modules V8 refused. */
const COUNT = `
  const vm = require('node:vm');
  let refused = 0;
  vm.Script = class extends vm.Script {
    constructor(...words) {
      super(...words);
      if (this.cachedDataRejected) refused += 1;
    }
  };
  require(${JSON.stringify(join(__dirname, '../../dist/apps/api/src/create-app.js'))});
  process.stdout.write(String(refused));
`;

describe('Module pack of the tests', () => {
  it('starts the API from compiled modules alone', () => {
    const { words, environment } = packedStart();
    expect(words).not.toEqual([]);
    const { stdout, stderr } = spawnSync(process.execPath, [...words, '-e', COUNT], {
      env: { ...process.env, ...environment },
      encoding: 'utf8',
    });

    expect([stdout, stderr]).toEqual(['0', '']);
  });
});
