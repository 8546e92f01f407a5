import { join } from 'node:path';

const [program = ''] = process.argv.slice(2);

/**
 * The process of a program, the API or the console, before it serves: loads the libraries while its parent prepares the
 * database, then receives its settings and runs the program itself.
 */
process.once('message', ({ environment }: { readonly environment: NodeJS.ProcessEnv }) => {
  process.env = { ...environment };
  require(join(__dirname, `../../${program}/src/main.js`));
});

// The channel closes when the parent ends, for any reason. Nobody else would end this process then.
process.once('disconnect', () => process.kill(process.pid, 'SIGINT'));

if (program === 'api') {
  void import('../../features.js').then(({ FEATURES }) => Promise.all(FEATURES.map((feature) => feature.api())));
}
