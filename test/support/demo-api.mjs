// The demo of `npm start`, with its own ports and directory.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const START_LIMIT_MS = 180_000;

/**
 * Starts the demo and resolves once it is ready. The data stay in the directory. `stop` ends it. `killApi` kills the
 * API by SIGKILL, and resolves when the rest of the demo has ended. `log` gets its output.
 */
export async function startDemo(directory, { port = 0, environment = {}, log = () => undefined } = {}) {
  const child = spawn(process.execPath, [join(root, 'apps/local/start.mjs')], {
    env: { ...process.env, ...environment, LOCAL_DIR: directory, PORT: String(port), MANAGEMENT_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const killApi = async () => {
    const pid = execFileSync('pgrep', ['-f', '-P', String(child.pid), 'api-child.* api$'], { encoding: 'utf8' }).trim();
    process.kill(Number(pid), 'SIGKILL');
    await ended;
  };
  let output = '';
  const origin = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the demo was not ready in time:\n${output}`)), START_LIMIT_MS);
    let isReady = false;
    const read = (chunk) => {
      log(String(chunk));
      if (isReady) return;
      output += chunk;
      const [, found] = /Ready\.[^]*?API +(\S+)/.exec(output) ?? [];
      if (!found) return;
      isReady = true;
      resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`the demo did not start:\n${output}`)));
    void ended.finally(() => clearTimeout(late));
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  const { client_id: id, client_secret: secret } = JSON.parse(
    readFileSync(join(directory, 'credentials.json'), 'utf8'),
  );
  return { access: [origin, id, secret], stop, killApi };
}
