import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from './run-to-end';

const PACKAGE = join(__dirname, 'directus/package.json');
const SAID_EVERY_MS = 15_000;

/** The version to install, which is part of the folder's name. */
const DIRECTUS_VERSION = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { dependencies: { directus: string } })
  .dependencies.directus;

/**
 * Installs Directus at the first call and keeps it for later runs. It is large, takes minutes and is not part of the
 * project, so its folder is outside the repository.
 */
export async function installDirectus(say: (line: string) => void): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'compliance-public-api');
  const folder = join(cache, `directus-${DIRECTUS_VERSION}`);
  if (existsSync(folder)) return folder;
  say(`  installing Directus ${DIRECTUS_VERSION}, once: 430 MB in ${folder}, which may be deleted at any time`);
  // Installed under another name first, so that an interrupted installation is never used.
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  copyFileSync(PACKAGE, join(unfinished, 'package.json'));
  const since = Date.now();
  const seconds = (): number => Math.round((Date.now() - since) / 1_000);
  const progress = setInterval(() => say(`  still installing, for ${seconds()} s`), SAID_EVERY_MS);
  try {
    // Compiles nothing: needed native packages include binaries, and the others are not needed here.
    const words = ['install', '--omit=dev', '--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
    await runToEnd('npm', words, { cwd: unfinished, env: process.env });
    renameSync(unfinished, folder);
  } finally {
    clearInterval(progress);
    rmSync(unfinished, { recursive: true, force: true });
  }
  say(`  installed in ${seconds()} s`);
  return folder;
}
