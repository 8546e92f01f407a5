import { aptMayInstall, installDebianPackage, isExecutable, onPath } from './debian-package';

const NOT_FOUND =
  'The browser tests need a Chromium and found none. Install chromium or Chrome, or set CHROMIUM_PATH to the program.';

/** What it is called by its packages. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const PLACES_OFF_PATH = [
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * The browser that CHROMIUM_PATH names, else one of this machine, else on Debian as root what apt brings, which is said on
 * stderr. Throws with what to do when there is no way.
 */
export function findChromium(say: (line: string) => void): string {
  const named = process.env['CHROMIUM_PATH'];
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`CHROMIUM_PATH names no program: ${named}`);
  }
  const installed = findInstalled();
  if (installed !== null) return installed;
  if (!aptMayInstall()) throw new Error(NOT_FOUND);
  say('No Chromium on this machine: installing Debian’s by apt-get, for the browser tests.');
  installDebianPackage('chromium', NOT_FOUND);
  const brought = findInstalled();
  if (brought === null) throw new Error(NOT_FOUND);
  return brought;
}

function findInstalled(): string | null {
  for (const name of NAMES) {
    const found = onPath(name);
    if (found !== null) return found;
  }
  return PLACES_OFF_PATH.find(isExecutable) ?? null;
}
