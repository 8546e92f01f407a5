// Updates dist/ before it is run. Plain JavaScript, because it runs before anything is compiled.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT, hash, readSources } from './sources.mjs';

const STAMP = join(ROOT, 'dist', '.sources.json');
const GUIDES = join(ROOT, 'dist', 'guides.json');
/** All that the guides can be made of, because libs/docs-site may import only kernel and platform. */
const OF_GUIDES = /^(docs|libs\/(client|docs-site|kernel|platform))\//;

/** A fault that the user can fix. The message says how. */
export class CannotBuild extends Error {}

/**
 * Makes again what is older than its sources, since the last build by this or by `npm run build`. Outputs are replaced
 * atomically and the stamp is written last, so an interrupted build can be continued, and concurrent builds write the
 * same files. Does not check types; `npm run build` and `npm test` do. Returns false when sources or compiler are
 * missing, as in an image; dist is then used as it is.
 */
export function bringUpToDate(announce) {
  const sources = readSources();
  const compilerPackage = join(ROOT, 'node_modules', 'typescript', 'package.json');
  if (sources.size === 0 || !existsSync(compilerPackage)) {
    if (existsSync(join(ROOT, 'dist', 'apps'))) return false;
    throw new CannotBuild(
      'Nothing is built yet and TypeScript is not installed; run npm ci (with development packages).',
    );
  }
  const compiler = hash(
    ...['package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => readFileSync(join(ROOT, name))),
    readFileSync(compilerPackage),
  );
  const stamp = readStamp(compiler);
  const isFresh = ([path, source]) => outputsOf(path).every((output) => isMadeOf(output, path, source, stamp));
  const stale = new Map([...sources].filter((source) => !isFresh(source)));
  const removed = Object.keys(stamp.hashes).filter((path) => !sources.has(path));
  if (stale.size === 0 && removed.length === 0) return true;

  announce();
  try {
    const code = [...stale].filter(([path]) => path.endsWith('.ts'));
    if (code.length > 0) compile(code);
    for (const path of removed) remove(path);
    if ([...stale.keys(), ...removed].some((path) => OF_GUIDES.test(path))) makeGuides();
    const hashes = Object.fromEntries([...sources].map(([path, source]) => [path, source.hash]));
    write(STAMP, `${JSON.stringify({ compiler, hashes })}\n`);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
    throw new CannotBuild(`dist is older than the sources and cannot be written: ${error.message}`);
  }
  return true;
}

/** Reads what was compiled last, and when. Empty after another compiler or other options. */
function readStamp(compiler) {
  try {
    const found = JSON.parse(readFileSync(STAMP, 'utf8'));
    if (found.compiler === compiler) return { hashes: found.hashes, madeAt: statSync(STAMP).mtimeMs };
    return { hashes: {}, madeAt: Infinity };
  } catch {
    return { hashes: {}, madeAt: -Infinity };
  }
}

/** The stamp covers its own outputs. For an output written later by `npm run build` only the time can tell. */
function isMadeOf(output, path, source, stamp) {
  const written = statSync(output, { throwIfNoEntry: false });
  if (written === undefined) return false;
  return written.mtimeMs > stamp.madeAt ? written.mtimeMs > source.changedAt : stamp.hashes[path] === source.hash;
}

function compile(code) {
  const ts = createRequire(import.meta.url)('typescript');
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.build.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => undefined,
    },
  );
  for (const [path, { text }] of code) {
    const result = ts.transpileModule(text, {
      compilerOptions: config.options,
      fileName: join(ROOT, path),
      reportDiagnostics: true,
    });
    const [fault] = result.diagnostics ?? [];
    if (fault !== undefined) {
      const line = text.slice(0, fault.start).split('\n').length;
      throw new CannotBuild(`${path}:${line} ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
    }
    write(`${outputOf(path)}.map`, result.sourceMapText ?? '');
    write(outputOf(path), result.outputText);
  }
}

/** In a process of its own, because this one would keep the modules of an earlier build. */
function makeGuides() {
  const program = join(ROOT, 'dist/libs/docs-site/src/guides/write-guides.js');
  const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  const [, reason = stderr] = /^Error: (.*)$/m.exec(stderr) ?? [];
  if (status !== 0) throw new CannotBuild(`The guides could not be made: ${reason}`);
}

function remove(path) {
  for (const file of [outputOf(path), `${outputOf(path)}.map`]) rmSync(file, { force: true });
}

function write(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, content);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function outputsOf(path) {
  return [...(path.endsWith('.ts') ? [outputOf(path)] : []), ...(OF_GUIDES.test(path) ? [GUIDES] : [])];
}

function outputOf(path) {
  return join(ROOT, 'dist', path.replace(/\.ts$/, '.js'));
}

/** @throws CannotBuild when package.json does not allow this version of Node, by a range such as `^20.19 || >=24.11`. */
export function demandNode(version = process.versions.node) {
  const range = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node;
  const [major, minor] = version.split('.').map(Number);
  const isAllowed = [...range.matchAll(/(\^|>=)(\d+)\.(\d+)/g)].some(([, sign, first, from]) =>
    major === Number(first) ? minor >= Number(from) : sign === '>=' && major > Number(first),
  );
  if (!isAllowed) throw new CannotBuild(`Node ${range} is needed; this is ${version}.`);
}

/** Updates dist/ and runs a compiled program in this process. Returns what it exports, or undefined after a fault. */
export function run(program, announce) {
  try {
    demandNode();
    bringUpToDate(announce);
  } catch (error) {
    if (!(error instanceof CannotBuild)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return undefined;
  }
  return createRequire(import.meta.url)(join(ROOT, 'dist', program));
}
