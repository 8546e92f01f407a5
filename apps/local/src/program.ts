import type { ServedApi } from './served-api';
import { StopRequest } from './stop-request';

/**
 * Runs Postgres, a demo workspace and the API on this machine until Ctrl-C. The API's process starts first and loads
 * its code meanwhile, which halves the wait.
 */
export function runProgram(start: () => ServedApi): void {
  void main(start).then(
    (exitCode) => process.exit(exitCode),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
}

async function main(start: () => ServedApi): Promise<number> {
  // A closed terminal or pipe must not prevent the shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const stop = new StopRequest();
  const api = start();
  try {
    const { runLocally } = await import('./local-run.js');
    return await runLocally(api, stop);
  } finally {
    await api.stop();
  }
}
