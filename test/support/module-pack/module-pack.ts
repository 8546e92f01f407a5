import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
/** What the programs load that tests start again and again. Not the programs themselves, which would run. */
const LOADED = [
  ...['api/src/create-app.js', 'api/src/management-server.js', 'api/src/readiness.js', 'api/src/graceful-stop.js'],
  ...['admin/src/operator.js', 'admin/src/output.js'],
];

/** Writes the pack from what is built. Returns whether there is one. */
export function writeModulePack(file: string): boolean {
  // It does nothing, but what it is compiled to is up to date then.
  spawnSync(process.execPath, [join(ROOT, 'apps/admin/run.mjs'), '--help']);
  const modules = LOADED.map((path) => join(ROOT, 'dist/apps', path));
  const { status, stderr } = spawnSync(process.execPath, [join(__dirname, 'write.cjs'), file, ...modules], {
    encoding: 'utf8',
  });
  // Without it everything loads as well, only later.
  if (status !== 0) process.stderr.write(`The modules could not be packed; processes will start slowly.\n${stderr}`);
  return status === 0;
}

/** How a test starts a program of what is built: the words before its path, and its environment beside its own. */
export function packedStart(): { readonly words: string[]; readonly environment: Readonly<Record<string, string>> } {
  const pack = process.env['TEST_MODULE_PACK'];
  if (pack === undefined) return { words: [], environment: {} };
  return { words: ['--require', join(__dirname, 'read.cjs')], environment: { TEST_MODULE_PACK: pack } };
}
