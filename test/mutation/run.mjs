// `npm run test:mutation`: changes pure code in small ways, and checks that its unit tests notice.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const PACKAGE = join(import.meta.dirname, 'package.json');
const { dependencies } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
const VERSION = dependencies['@stryker-mutator/core'];
const TOOLS_DIRECTORY = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  `compliance-public-api-mutation-${VERSION}`,
);
const PROGRAM = join(TOOLS_DIRECTORY, 'node_modules/.bin/stryker');
const ROOT = join(import.meta.dirname, '../..');

const HELP = `Usage: npm run test:mutation -- [--install] [--only TEXT]

Runs Stryker ${VERSION}: each mutant is one small change of the code that mutants.mjs lists, and a unit test must fail.
A run takes less than an hour. The exit status is 0 when at least 90 % of the mutants are noticed.

  --only     mutate only files whose path, without .ts, holds this text, such as throttling/bucket
  --install  first install Stryker, into ${TOOLS_DIRECTORY}
  --help     show this`;

function run(program, words, options) {
  const { status, error } = spawnSync(program, words, { stdio: 'inherit', ...options });
  if (error) console.error(error.message);
  return status ?? 1;
}

function main() {
  const { values } = parseArgs({
    options: { help: { type: 'boolean' }, install: { type: 'boolean' }, only: { type: 'string' } },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.install && !existsSync(PROGRAM)) {
    mkdirSync(TOOLS_DIRECTORY, { recursive: true });
    for (const name of ['package.json', 'package-lock.json']) {
      copyFileSync(join(import.meta.dirname, name), join(TOOLS_DIRECTORY, name));
    }
    const status = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: TOOLS_DIRECTORY });
    if (status !== 0) return status;
  }
  if (!existsSync(PROGRAM)) {
    console.log('Stryker is missing. Install it: npm run test:mutation -- --install');
    return 1;
  }
  const directory = mkdtempSync(join(tmpdir(), 'mutation-'));
  try {
    const environment = {
      STRYKER: join(TOOLS_DIRECTORY, 'node_modules'),
      STRYKER_DIRECTORY: directory,
      MUTATED: values.only ?? '',
    };
    const words = ['run', join(import.meta.dirname, 'mutants.mjs')];
    return run(PROGRAM, words, { cwd: ROOT, env: { ...process.env, ...environment } });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

process.exitCode = main();
