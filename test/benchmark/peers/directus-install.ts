import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from './run-to-end';

const PACKAGE = join(__dirname, 'directus/package.json');
const SAID_EVERY_MS = 15_000;

/** Of what is installed, and so of the folder. */
const DIRECTUS_VERSION = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { dependencies: { directus: string } })
  .dependencies.directus;

/**
 * The folder of Directus, installed at the first call and then kept for later runs: it is large, needs minutes, and is no
 * part of the project, so that it stands outside of the repository, where only its user writes.
 */
export async function installDirectus(say: (line: string) => void): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'compliance-public-api');
  const folder = join(cache, `directus-${DIRECTUS_VERSION}`);
  if (existsSync(folder)) return folder;
  say(`  installing Directus ${DIRECTUS_VERSION}, once: 430 MB in ${folder}, which may be deleted at any time`);
  // Under another name until it is whole: what an interrupted run leaves is not taken for an installation.
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  copyFileSync(PACKAGE, join(unfinished, 'package.json'));
  const since = Date.now();
  const seconds = (): number => Math.round((Date.now() - since) / 1_000);
  const progress = setInterval(() => say(`  still installing, for ${seconds()} s`), SAID_EVERY_MS);
  try {
    // Nothing is compiled: what is native comes with its binaries, and what does not is not needed here.
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
