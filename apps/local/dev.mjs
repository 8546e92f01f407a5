// npm run dev [-- --inspect]
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { bringUpToDate, run } from './build.mjs';
import { ROOT, SOURCE_FOLDERS } from './sources.mjs';

/** Editors write a file in several steps. */
const QUIET_MS = 50;

const nodeOptions = process.argv.slice(2);
if (nodeOptions.every((option) => option.startsWith('--inspect'))) {
  const program = run('apps/local/src/develop.js', () => process.stdout.write('Building…\n'));
  program?.develop({ watch: watchSources, build }, ['--enable-source-maps', ...nodeOptions]);
} else {
  process.stderr.write('Usage: npm run dev [-- --inspect | --inspect-brk | --inspect=PORT]\n');
  process.exitCode = 2;
}

function build() {
  let isStale = false;
  bringUpToDate(() => (isStale = true));
  return isStale;
}

/** Watches folders, because editors replace files. On Linux Node's recursive watch misses that. */
function watchSources(onChange) {
  const watched = new Map();
  let quiet;
  const changed = () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      watchFolders();
      onChange();
    }, QUIET_MS);
  };
  const watchFolders = () => {
    const folders = new Set(SOURCE_FOLDERS.flatMap((top) => foldersIn(join(ROOT, top))));
    for (const [folder, watcher] of watched) if (!folders.has(folder) && watched.delete(folder)) watcher.close();
    for (const folder of folders) if (!watched.has(folder)) watched.set(folder, watch(folder, changed));
  };
  watchFolders();
}

function foldersIn(top) {
  const inside = readdirSync(top, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !['node_modules', 'dist'].includes(entry.name),
  );
  return [top, ...inside.flatMap(({ name }) => foldersIn(join(top, name)))];
}
