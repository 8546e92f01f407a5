// The external programs that some tests need, and functions that find and install them.
const { spawnSync } = require('node:child_process');
const {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, delimiter, join } = require('node:path');

/** Directories of packages, which an ordinary user's PATH may lack. */
const PACKAGE_PLACES = [
  ...['/usr/local/bin', '/usr/local/sbin', '/usr/sbin', '/sbin', '/snap/bin', '/opt/google/chrome'],
  ...['/opt/homebrew/bin', '/opt/homebrew/sbin', '/opt/local/bin', '/opt/local/sbin'],
  ...['/Applications/Google Chrome.app/Contents/MacOS', '/Applications/Chromium.app/Contents/MacOS'],
];

/**
 * `names` are the program's names in packages. `debian` is the package that tests install, or several of which one is
 * enough; `hint` is the one recommended to people. With `file`, tests take only this file of the package.
 */
const PROGRAMS = {
  // redis-tools contains the server under another name, and starts no system service.
  'redis-server': { names: ['redis-server', 'redis-check-rdb'], debian: 'redis-tools', hint: 'redis-server' },
  haproxy: { debian: 'haproxy' },
  pgbouncer: { debian: 'pgbouncer' },
  chromium: {
    names: [
      // The same without a window takes half of the work.
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome-stable',
      'google-chrome',
      'chrome',
      'Google Chrome',
      'Chromium',
    ],
    debian: ['chromium-headless-shell', 'chromium'],
    hint: 'chromium',
    variable: 'CHROMIUM_PATH',
  },
  curl: { debian: 'curl' },
  python3: { debian: 'python3', variable: 'PYTHON' },
  openssl: { debian: 'openssl' },
  psql: { debian: 'postgresql-client' },
  'redis-cli': { debian: 'redis-tools' },
  // The package would start a server on port 9090, which is that of `npm start`.
  promtool: { debian: 'prometheus', file: 'usr/bin/promtool' },
};

/** Returns PATH followed by the directories of packages. */
function searchPath() {
  return [process.env.PATH ?? '', ...PACKAGE_PLACES].join(delimiter);
}

/** Returns the path of a program, or null. A variable that names the program has priority. */
function findProgram(program) {
  const { names = [program], variable } = PROGRAMS[program];
  const named = variable && process.env[variable];
  if (named) return named;
  return names.map(locate).find((path) => path !== null) ?? null;
}

/** @throws with installation instructions when the program is missing */
function demandProgram(program) {
  const path = findProgram(program);
  if (path === null) throw new Error(`This test needs ${program} and found none (${installation(program)}).`);
  return path;
}

/** Returns installation instructions. */
function installation(program) {
  const { debian, hint = debian } = PROGRAMS[program];
  return `apt-get install ${hint}`;
}

function dockerResponds() {
  const docker = locate('docker');
  return docker !== null && spawnSync(docker, ['info'], { timeout: 10_000 }).status === 0;
}

/** Tells whether tests can use a Redis: a borrowed one, an own process, or a container. */
function isRedisThere() {
  return Boolean(process.env.REDIS_URL) || findProgram('redis-server') !== null || dockerResponds();
}

/**
 * Installs programs by apt when running as root on Debian and its derivatives, and reports it on stderr. Does nothing
 * elsewhere.
 */
function installPrograms(programs) {
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version') && locate('apt-get') !== null;
  if (programs.length === 0 || !mayInstall) return;
  const packages = programs.map((program) => [PROGRAMS[program].debian].flat().join(' or '));
  process.stderr.write(`Installing for the tests by apt-get: ${packages.join(', ')}\n`);
  // An update may fail for one of many sources. The installation shows whether the package exists.
  aptGet(['update']);
  // One by one, so that an unavailable package does not block the others.
  for (const { debian, file } of programs.map((program) => PROGRAMS[program])) {
    if (file) takeFile(debian, file);
    else [debian].flat().some(install);
  }
}

/** Puts a program of a package into /usr/local/bin, without installing the package. */
function takeFile(name, file) {
  const directory = mkdtempSync(join(tmpdir(), 'compliance-package-'));
  try {
    if (!succeeds(['download', name], { cwd: directory })) return;
    const [archive] = readdirSync(directory);
    spawnSync('dpkg-deb', ['--extract', archive, '.'], { cwd: directory });
    const program = join('/usr/local/bin', basename(file));
    const unfinished = `${program}.${process.pid}`;
    copyFileSync(join(directory, file), unfinished);
    // Another run may execute the program.
    renameSync(unfinished, program);
  } catch (error) {
    console.error(`${file} of the package ${name}: ${error.message}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const install = (name) => succeeds(['install', '--yes', '--no-install-recommends', name]);

/** Tells whether apt-get succeeds, and says why not. */
function succeeds(words, options) {
  const { status, error, stderr } = aptGet(words, options);
  if (status !== 0) process.stderr.write(`apt-get ${words.join(' ')} failed: ${error?.message ?? stderr}\n`);
  return status === 0;
}

/** Under a lock, because several runs may install at once. */
function aptGet(words, options) {
  return spawnSync('flock', ['/var/lib/apt', 'apt-get', '-qq', ...words], {
    ...options,
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 180_000,
    maxBuffer: 16 * 1024 * 1024,
  });
}

function locate(name) {
  const paths = searchPath()
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name));
  return paths.find(isProgram) ?? null;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

module.exports = {
  demandProgram,
  dockerResponds,
  findProgram,
  installPrograms,
  installation,
  isRedisThere,
  searchPath,
};
