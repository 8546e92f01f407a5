// Use it by `node --require`. Node then runs our TypeScript sources directly, one file at a time by swc, as in jest.
// For tests that need a separate process without a build.
const { readFileSync } = require('node:fs');
const { _extensions: extensions } = require('node:module');
const { transformSync } = require('@swc/core');

extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'commonjs' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
  });
  module._compile(code, filename);
};
