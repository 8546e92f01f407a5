import { join } from 'node:path';

/**
 * The API's process before it is the API: loads the libraries while its parent prepares the database, then takes over
 * the settings it is sent and runs the API's own program.
 */
process.once('message', ({ environment }: { readonly environment: NodeJS.ProcessEnv }) => {
  process.env = { ...environment };
  require(join(__dirname, '../../api/src/main.js'));
});

// The channel closes when the parent is gone, however it went. Nobody else would end this process then.
process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));

void import('#libs/inventory').then(() => import('#libs/computers'));
