// Runs the installed Directus: `bootstrap` creates its tables and ends, `serve` reports its port, and its CPU time on
// request. JavaScript, so that it runs as installed, without our TypeScript loader.
import { createRequire, Module } from 'node:module';
import { join } from 'node:path';

const [folder, task] = process.argv.slice(2);
const api = join(folder, 'node_modules/@directus/api');
// It looks for extensions in the working directory.
process.chdir(folder);

// Only scripts in Flows and sandboxed extensions need isolated-vm. There are none, so it is not compiled.
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
