import { ApiProcess } from './api-process';
import { StopRequest } from './stop-request';

/**
 * The program of `npm start`: runs Postgres, a demo workspace and the API on this machine until Ctrl-C. The API's
 * process starts first and loads its code meanwhile, which halves the wait.
 */
async function main(): Promise<number> {
  // A closed terminal or pipe must not prevent the shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const stop = new StopRequest();
  const api = new ApiProcess();
  try {
    const { runLocally } = await import('./local-run.js');
    return await runLocally(api, stop);
  } finally {
    await api.stop();
  }
}

void main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
