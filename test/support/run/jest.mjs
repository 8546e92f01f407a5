// Runs jest and ends when its results are there. The program of jest warns after each run that is ended this way.
import { createRequire } from 'node:module';
import { root } from './command.mjs';

const { buildArgv, runCLI } = createRequire(import.meta.url)('jest');

try {
  const { results, globalConfig } = await runCLI(await buildArgv(process.argv.slice(2)), [root]);
  process.exit(results.success ? 0 : globalConfig.testFailureExitCode);
} catch (error) {
  console.error(error?.stack ?? error);
  process.exit(1);
}
