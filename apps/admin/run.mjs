// npm run --silent admin -- …
import { run } from '../local/build.mjs';

run('apps/admin/src/main.js', () => {
  if (process.stderr.isTTY) process.stderr.write('Building…\n');
});
