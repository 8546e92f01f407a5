// npm start
import { run } from './build.mjs';

const HELP = `Usage: npm start

Starts the API and the web console with made-up data and prints how to use them. It runs a Postgres of its own. Ctrl-C
stops everything and keeps the data.

Settings in the environment, of which docs/settings.md lists all:
  PORT          port of the API (3000)
  CONSOLE_PORT  port of the console (3001)
  LOCAL_DIR     directory of the data and keys (.local)
`;

const words = process.argv.slice(2);
if (words.length === 0) {
  run('apps/local/src/main.js', () => process.stdout.write('Building…\n'));
} else if (words.includes('--help')) {
  process.stdout.write(HELP);
} else {
  process.stderr.write(HELP);
  process.exitCode = 2;
}
