// Directus in a process of its own, from where it is installed: `bootstrap` makes its tables and ends, `serve` tells its
// port, and its CPU when asked. JavaScript, so that it runs as installed, with nothing of how our sources run.
import { createRequire, Module } from 'node:module';
import { join } from 'node:path';

const [folder, task] = process.argv.slice(2);
const api = join(folder, 'node_modules/@directus/api');
// It looks for its extensions where it is started.
process.chdir(folder);

// Only scripts in Flows and extensions in a sandbox run in isolated-vm, and here there are none: it is not compiled.
const require = createRequire(join(api, 'package.json'));
const isolatedVm = require.resolve('isolated-vm');
require.cache[isolatedVm] = Object.assign(new Module(isolatedVm), { filename: isolatedVm, loaded: true, exports: {} });

if (task === 'bootstrap') {
  const { default: bootstrap } = await import(join(api, 'dist/cli/commands/bootstrap/index.js'));
  await bootstrap({});
} else {
  const { createServer } = await import(join(api, 'dist/server.js'));
  const server = await createServer();
  server.listen(0, '127.0.0.1', () => {
    process.on('message', () => process.send({ cpuUsage: process.cpuUsage() }));
    process.on('disconnect', () => process.exit(0));
    process.send({ port: server.address().port });
  });
}
