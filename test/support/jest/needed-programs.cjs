// Leaves out test files whose programs are missing on this machine. jest calls this filter for the list of files.
//
// A module that runs a program declares it in its head comment by a line `@needs PROGRAM`. A test file needs its own
// programs and those of the modules it imports.
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { findProgram, installPrograms, installation, isRedisThere } = require('../programs.cjs');

const HEAD = /^\/\*\*[\s\S]*?\*\//;
const NEED = /@needs (\S+)/g;
/** Imports of our own modules. A type import loads nothing. */
const IMPORT = /^(?:import|export) (?!type |\{(?: type [^,}]+,?)+ \})(?:[^;]*? from )?'(\.[^']*)'/gm;

/** The omitted files by missing program, for the reporter. */
const leftOut = {};

/** Returns the programs that a test file needs. */
function needsOf(file) {
  const needs = new Set();
  const files = new Set([file]);
  // Iterating a set includes elements that are added meanwhile.
  for (const one of files) {
    const { own, imported } = read(one);
    for (const need of own) needs.add(need);
    for (const path of imported) files.add(path);
  }
  return [...needs];
}

const known = new Map();

/** Returns a file's declared programs and its imports of our own modules. */
function read(file) {
  const before = known.get(file);
  if (before) return before;
  const text = readFileSync(file, 'utf8');
  const own = [...(HEAD.exec(text)?.[0] ?? '').matchAll(NEED)].map(([, need]) => need);
  const imported = [...text.matchAll(IMPORT)].flatMap(
    ([, path]) => [`${path}.ts`, `${path}/index.ts`].map((one) => join(dirname(file), one)).find(existsSync) ?? [],
  );
  known.set(file, { own, imported });
  return known.get(file);
}

const programOf = (need) => (need === 'redis' ? 'redis-server' : need);
const isThere = (need) => (need === 'redis' ? isRedisThere() : findProgram(need) !== null);

/** jest's filter. With ALL_PROGRAMS=required every file runs, and files without their program fail. */
function runnableFiles(paths) {
  const needs = new Map(paths.map((path) => [path, needsOf(path)]));
  const missing = () => [...new Set([...needs.values()].flat())].filter((need) => !isThere(need));
  installPrograms([...new Set(missing().map(programOf))]);
  if (process.env.ALL_PROGRAMS === 'required') return { filtered: paths };
  const lacking = new Set(missing());
  const filtered = paths.filter((path) => {
    const lacks = needs.get(path).filter((need) => lacking.has(need));
    for (const program of new Set(lacks.map(programOf))) (leftOut[program] ??= []).push(path);
    return lacks.length === 0;
  });
  return { filtered };
}

/** Returns one line for each program that is missing. */
function leftOutLines(files) {
  return Object.entries(files).map(([program, { length }]) => {
    return `left out: ${length} ${length === 1 ? 'file' : 'files'}, for want of ${program} (${installation(program)})`;
  });
}

module.exports = Object.assign(runnableFiles, { leftOut, leftOutLines, needsOf });
