import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
/** Modules of the programs that tests start repeatedly. Excludes the programs themselves, which would run. */
const LOADED = [
  ...['apps/api/src/create-app.js', 'apps/console/src/create-console.js'],
  'libs/platform/src/process/index.js',
  ...['command-line', 'operator', 'output'].map((name) => `apps/admin/src/${name}.js`),
  ...['audit', 'auth', 'inventory'].map((name) => `libs/${name}/src/operators.js`),
  // The API imports these only when it starts.
  ...['audit', 'auth', 'computers', 'inventory'].map((name) => `libs/${name}/src/${name}.module.js`),
];

/** Sets the V8 flags of the API, in tests also for commands and the console: V8 rejects code compiled under other flags. */
const FLAGS = ['--require', join(ROOT, 'dist/apps/api/src/garbage-collection.js')];

/** Writes the pack from the build. Returns whether it succeeded. */
export function writeModulePack(file: string): boolean {
  // The command does nothing, but running it updates the build.
  spawnSync(process.execPath, [join(ROOT, 'apps/admin/run.mjs'), '--help']);
  const modules = LOADED.map((path) => join(ROOT, 'dist', path));
  const { status, stderr } = spawnSync(process.execPath, [...FLAGS, join(__dirname, 'write.cjs'), file, ...modules], {
    encoding: 'utf8',
  });
  // Programs also start without the pack, only more slowly.
  if (status !== 0) process.stderr.write(`The modules could not be packed; processes will start slowly.\n${stderr}`);
  return status === 0;
}

/** The start of a built program in a test: the words before its path, and additional environment variables. */
export function packedStart(): { readonly words: string[]; readonly environment: Readonly<Record<string, string>> } {
  const pack = process.env['TEST_MODULE_PACK'];
  if (pack === undefined) return { words: [], environment: {} };
  return { words: [...FLAGS, '--require', join(__dirname, 'read.cjs')], environment: { TEST_MODULE_PACK: pack } };
}

/** The environment of a shell whose commands start built programs. */
export function packedShell(): Readonly<Record<string, string>> {
  const { words, environment } = packedStart();
  return { ...environment, NODE_OPTIONS: words.map((word) => `"${word}"`).join(' ') };
}
