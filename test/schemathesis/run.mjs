// `npm run test:schemathesis`: sends random requests and chains of requests to the demo, and judges the responses.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findTools, install, tellTools } from '../connectors/tools.mjs';
import { startDemo } from '../support/demo-api.mjs';

const CONTRACT = join(import.meta.dirname, '../../docs/contract/openapi.json');
const CONFIGURATION = join(import.meta.dirname, 'schemathesis.toml');
const HOOKS = join(import.meta.dirname, 'hooks.py');
/** Schemathesis begins new chains until then. */
const CHAIN_SECONDS = 90;
const NO_LIMIT = '1000000/1000000';
const LIMIT_MS = 15 * 60_000;

const HELP = `Usage: npm run test:schemathesis -- [--install] [--seed N]

Starts the demo and runs Schemathesis with docs/contract/openapi.json: the contract's examples, values at its limits, random
values, and chains along its links (a list, one asset, an update, its history and the changes). Every response must be as the
contract says, and what the contract forbids must be refused. A run takes some minutes.

  --install  first install Schemathesis, into the cache of this user
  --seed N   repeat a run: each prints its seed
  --help     show this

The exit status is 0 only when nothing failed.`;

async function accessToken(origin, id, secret) {
  const response = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    },
    body: 'grant_type=client_credentials',
  });
  return (await response.json()).access_token;
}

async function main() {
  const { values } = parseArgs({
    options: { help: { type: 'boolean' }, install: { type: 'boolean' }, seed: { type: 'string' } },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.install) install(findTools().schemathesis);
  const { schemathesis } = findTools();
  if (!schemathesis.path) {
    tellTools([schemathesis], 'test:schemathesis');
    return 1;
  }
  const directory = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  const environment = { RATE_LIMIT_READ: NO_LIMIT, RATE_LIMIT_WRITE: NO_LIMIT, RATE_LIMIT_TOKEN: NO_LIMIT };
  let demo;
  try {
    demo = await startDemo(join(directory, 'demo'), { environment });
    const [origin, id, secret] = demo.access;
    const token = await accessToken(origin, id, secret);
    const run = (...phase) => {
      const words = [
        ...[
          '--config-file',
          CONFIGURATION,
          'run',
          CONTRACT,
          '--url',
          origin,
          '--header',
          `Authorization: Bearer ${token}`,
        ],
        ...['--continue-on-failure', '--generation-database', 'none', ...phase],
        ...(values.seed === undefined ? [] : ['--seed', values.seed]),
      ];
      const env = { ...process.env, SCHEMATHESIS_HOOKS: HOOKS };
      const { status, error } = spawnSync(schemathesis.path, words, {
        cwd: directory,
        env,
        stdio: 'inherit',
        timeout: LIMIT_MS,
      });
      if (error) console.error(error.message);
      return status ?? 1;
    };
    const single = run('--phases', 'examples,coverage,fuzzing', '--max-examples', '50');
    const chains = run('--phases', 'stateful', '--max-examples', '100', '--max-time', String(CHAIN_SECONDS));
    return single || chains;
  } finally {
    await demo?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

process.exitCode = await main();
