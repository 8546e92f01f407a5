// npm start
import { run } from './build.mjs';

run('apps/local/src/main.js', () => process.stdout.write('Building…\n'));
