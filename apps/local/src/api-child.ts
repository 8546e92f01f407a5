import { join } from 'node:path';

/**
 * The process of the API before it serves: loads the libraries while its parent prepares the database, then receives
 * its settings and runs the API's own program.
 */
process.once('message', ({ environment }: { readonly environment: NodeJS.ProcessEnv }) => {
  process.env = { ...environment };
  require(join(__dirname, '../../api/src/main.js'));
});

// The channel closes when the parent ends, for any reason. Nobody else would end this process then.
process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));

void import('../../features.js').then(({ FEATURES }) => Promise.all(FEATURES.map((feature) => feature.api())));
