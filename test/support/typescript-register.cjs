// `node --require` this, and Node runs our TypeScript sources as they are: for tests that need a process of their own
// and must not depend on a build. One file at a time by swc, as in jest.
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
