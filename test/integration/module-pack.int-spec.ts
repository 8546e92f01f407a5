import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packedStart } from '../support/module-pack/module-pack';

const DIST = join(__dirname, '../../dist/');

/** Loads the API with its features. Prints how many compiled modules V8 refused, and which modules are not in the pack. */
const LOAD = `
  const { readFileSync } = require('node:fs');
  const vm = require('node:vm');
  let refused = 0;
  vm.Script = class extends vm.Script {
    constructor(...words) {
      super(...words);
      if (this.cachedDataRejected) refused += 1;
    }
  };
  const pack = readFileSync(process.env.TEST_MODULE_PACK);
  const { files } = JSON.parse(pack.subarray(4, 4 + pack.readUInt32LE()).toString());
  require(${JSON.stringify(`${DIST}apps/api/src/create-app.js`)});
  const { FEATURES } = require(${JSON.stringify(`${DIST}apps/features.js`)});
  void Promise.all(FEATURES.map((feature) => feature.api())).then(() => {
    const missing = Object.keys(require.cache).filter((file) => /dist|@nestjs/.test(file) && !(file in files));
    process.stdout.write(JSON.stringify({ refused, missing }));
  });
`;

describe('Module pack of the tests', () => {
  it('starts the API from compiled modules alone, except those that import at run time', () => {
    const { words, environment } = packedStart();
    expect(words).not.toEqual([]);
    const { stdout, stderr } = spawnSync(process.execPath, [...words, '-e', LOAD], {
      env: { ...process.env, ...environment },
      encoding: 'utf8',
    });

    expect(stderr).toBe('');
    const { refused, missing } = JSON.parse(stdout) as { refused: number; missing: string[] };
    // The pack cannot contain a module that imports another one at run time. One is loaded before the pack.
    const others = missing.filter((file) => !/\bimport\(/.test(readFileSync(file, 'utf8')));
    expect([refused, others]).toEqual([0, [`${DIST}apps/api/src/garbage-collection.js`]]);
  });
});
