// Use it by `node --require`. Node then loads modules from the pack in TEST_MODULE_PACK, and all others as usual.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname } = require('node:path');
const vm = require('node:vm');

const pack = readFileSync(process.env.TEST_MODULE_PACK);
const start = 4 + pack.readUInt32LE();
const { resolved, files } = JSON.parse(pack.subarray(4, start).toString());
const content = pack.subarray(start);

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) =>
  (parent?.path && resolved[`${parent.path}\0${request}`]) || resolveFilename(request, parent, ...rest);

const loadFile = Module._extensions['.js'];
Module._extensions['.js'] = load;
Module._extensions['.mjs'] = load;

function load(module, file) {
  const kept = files[file];
  if (kept === undefined) return loadFile(module, file);
  const [codeStart, codeEnd, dataStart, dataEnd] = kept;
  const script = new vm.Script(content.toString('utf8', codeStart, codeEnd), {
    filename: file,
    cachedData: content.subarray(dataStart, dataEnd),
  });
  return script.runInThisContext()(module.exports, requireOf(module), module, file, dirname(file));
}

function requireOf(module) {
  const require = (request) => module.require(request);
  require.resolve = (request, options) => Module._resolveFilename(request, module, false, options);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  return require;
}
