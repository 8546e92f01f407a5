// Lets Node load installed packages and keep them for later test files. jest would compile a thousand modules for each
// file, which takes more than a second.
const { createHash } = require('node:crypto');
const ProcessEnvironment = require('./process-environment.cjs');

/** In jest's global set-up Node loads everything directly. */
const codeFor = (file, source) =>
  ProcessEnvironment.isOpen ? `module.exports = requireInstalled(${JSON.stringify(file)});` : source;

module.exports = {
  process: (source, file) => ({ code: codeFor(file, source) }),
  getCacheKey: (source, file) => createHash('sha256').update(codeFor(file, source)).digest('hex'),
};
