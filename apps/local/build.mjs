// Updates dist/ before it is run. Plain JavaScript, because it runs before anything is compiled.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STAMP = join(ROOT, 'dist', '.sources.json');
/** As in tsconfig.build.json: files that no program loads are not built. */
const NOT_BUILT = /\.(spec|fake|contract|d)\.ts$/;

/** A fault that the user can fix. The message says how. */
export class CannotBuild extends Error {}

/**
 * Compiles the sources that changed since the last build, by this or by `npm run build`. Outputs are replaced
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
    ...['tsconfig.json', 'tsconfig.build.json'].map((name) => readFileSync(join(ROOT, name))),
    readFileSync(compilerPackage),
  );
  const stamp = readStamp(compiler);
  const stale = [...sources].filter(([path, source]) => !isFresh(path, source, stamp));
  const removed = Object.keys(stamp.hashes).filter((path) => !sources.has(path));
  if (stale.length === 0 && removed.length === 0) return true;

  announce();
  try {
    if (stale.length > 0) compile(stale);
    for (const path of removed) remove(path);
    const hashes = Object.fromEntries([...sources].map(([path, source]) => [path, source.hash]));
    write(STAMP, `${JSON.stringify({ compiler, hashes })}\n`);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
    throw new CannotBuild(`dist is older than the sources and cannot be written: ${error.message}`);
  }
  return true;
}

function readSources() {
  const sources = new Map();
  for (const top of ['apps', 'libs']) {
    if (!existsSync(join(ROOT, top))) continue;
    for (const entry of readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || NOT_BUILT.test(entry.name)) continue;
      const file = join(entry.parentPath ?? entry.path, entry.name);
      const text = readFileSync(file, 'utf8');
      sources.set(file.slice(ROOT.length), { text, hash: hash(text), changedAt: statSync(file).mtimeMs });
    }
  }
  return sources;
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
function isFresh(path, source, stamp) {
  const output = statSync(outputOf(path), { throwIfNoEntry: false });
  if (output === undefined) return false;
  return output.mtimeMs > stamp.madeAt ? output.mtimeMs > source.changedAt : stamp.hashes[path] === source.hash;
}

function compile(stale) {
  const ts = createRequire(import.meta.url)('typescript');
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.build.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => undefined,
    },
  );
  for (const [path, { text }] of stale) {
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

function outputOf(path) {
  return join(ROOT, 'dist', path.replace(/\.ts$/, '.js'));
}

function hash(...parts) {
  const digest = createHash('sha1');
  for (const part of parts) digest.update(part).update('\0');
  return digest.digest('base64');
}

/** Updates dist/ and runs a compiled program in this process. Returns what it exports, or undefined after a fault. */
export function run(program, announce) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  try {
    if (major < 20 || (major === 20 && minor < 19)) {
      throw new CannotBuild(`Node 20.19 or newer is needed; this is ${process.versions.node}.`);
    }
    bringUpToDate(announce);
  } catch (error) {
    if (!(error instanceof CannotBuild)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return undefined;
  }
  return createRequire(import.meta.url)(join(ROOT, 'dist', program));
}
