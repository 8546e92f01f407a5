// node write.cjs PACK MODULE…: loads these modules with all their dependencies. Stores in one file everything that Node
// had to find, read and compile. Processes that load from it start in a third of the time (see read.cjs).
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const vm = require('node:vm');
const { transformSync } = require('@swc/core');

const [pack, ...programs] = process.argv.slice(2);
/** The resolved files, by directory of the importing module and import path. */
const resolved = {};
const scripts = new Map();

/** An import at run time, in a line that is not of a comment. */
const IMPORT = /^(?!\s*(?:\*|\/\/)).*\bimport\s*\(/m;

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) => {
  const file = resolveFilename(request, parent, ...rest);
  if (parent?.path && !Module.isBuiltin(request)) resolved[`${parent.path}\0${request}`] = file;
  return file;
};
const loadFile = Module._extensions['.js'];
Module._extensions['.js'] = load;
Module._extensions['.mjs'] = load;

for (const program of programs) require(program);
save();
process.exit(0);

function load(module, file) {
  const code = Module.wrap(commonJsOf(file));
  // Precompiled code has no import callback.
  if (IMPORT.test(code)) return loadFile(module, file);
  const script = new vm.Script(code, { filename: file });
  scripts.set(file, { code, script });
  return script.runInThisContext()(module.exports, Module.createRequire(file), module, file, dirname(file));
}

/** ES modules are compiled to CommonJS, as jest does, because Node loads them most slowly. */
function commonJsOf(file) {
  const source = readFileSync(file, 'utf8').replace(/^#!.*/, '');
  if (!isEsModule(file)) return source;
  const module = { type: 'commonjs' };
  return transformSync(source, { filename: file, swcrc: false, module, jsc: { target: 'es2022' } }).code;
}

function isEsModule(file) {
  if (file.endsWith('.mjs')) return true;
  if (file.endsWith('.cjs')) return false;
  for (let directory = dirname(file); directory !== dirname(directory); directory = dirname(directory)) {
    const path = join(directory, 'package.json');
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')).type === 'module';
  }
  return false;
}

/** The length of the index, the index, and the indexed data. */
function save() {
  const parts = [];
  let end = 0;
  const place = (part) => {
    parts.push(part);
    end += part.length;
    return [end - part.length, end];
  };
  const files = {};
  for (const [file, { code, script }] of scripts) {
    // Cached only now, the data includes functions that were called meanwhile.
    files[file] = [...place(Buffer.from(code)), ...place(script.createCachedData())];
  }
  const index = Buffer.from(JSON.stringify({ resolved, files }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  writeFileSync(`${pack}.new`, Buffer.concat([length, index, ...parts]));
  renameSync(`${pack}.new`, pack);
}
