// How jest gets a package that is installed: Node loads it, and keeps it for the test files to come. Loaded by jest it
// would be compiled anew for each of them, a thousand modules and more than a second of work every time.
const { createHash } = require('node:crypto');
const ProcessEnvironment = require('./process-environment.cjs');

/** In jest's global set-up Node loads everything as it is. */
const codeFor = (file, source) =>
  ProcessEnvironment.isOpen ? `module.exports = requireInstalled(${JSON.stringify(file)});` : source;

module.exports = {
  process: (source, file) => ({ code: codeFor(file, source) }),
  getCacheKey: (source, file) => createHash('sha256').update(codeFor(file, source)).digest('hex'),
};
