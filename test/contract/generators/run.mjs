// `npm run test:generators`: checks that common generators accept the contract.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CLIENTS, CONTRACT } from './clients.mjs';
import { startDemo } from '../../support/demo-api.mjs';
import { Stamp } from './stamp.mjs';
import { TOOLS_DIRECTORY, VERSIONS, findTools } from './tools.mjs';

const COMMAND_LIMIT_MS = 600_000;
/** `npm test` stops after an hour. */
const CHANGED_LIMIT_MS = 480_000;
const STAMP = join(import.meta.dirname, 'passed.json');
/** Rust and Kotlin first load their compilers' libraries, which takes minutes. */
const SLOW = ['java', 'rust', 'kotlin'];

const HELP = `Usage: npm run test:generators -- [--install] [--changed] [NAME...]

Generates a client from docs/contract/openapi.json, compiles it and, for three of them, calls the demo API with it: a token,
a list, an update as application/json and one as application/merge-patch+json. Without names it tries all:
  ${Object.keys(CLIENTS).join(', ')}

  --install  first install the generators that are missing, into ${TOOLS_DIRECTORY}
  --changed  try only those that have not passed this contract yet, quick ones first, within ${CHANGED_LIMIT_MS / 60_000} minutes;
             npm test does this
  --stamp FILE  keep there what passed, instead of ${STAMP}
  --help     show this

Versions: openapi-generator-cli ${VERSIONS.openapiGenerator}, oapi-codegen ${VERSIONS.oapiCodegen}, \
openapi-python-client ${VERSIONS.openapiPythonClient}.
Compilers are taken from the PATH: java and mvn, cargo, go, python3. A client whose tools are missing is skipped, and the
command that installs them is shown. Generated code is kept in a temporary directory, which is removed at the end.
Without --changed, the generators that passed are recorded with the hash of the contract: commit the file.
The last line is "N passed, N failed, N skipped"; the exit status is 1 when anything failed, or nothing passed
without --changed.`;

/** Runs a command. @throws its output when it fails */
function run([program, ...args], directory, limit = COMMAND_LIMIT_MS) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: directory,
    encoding: 'utf8',
    timeout: limit,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return;
  const written = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-40).join('\n');
  throw new Error(`${[program, ...args].join(' ')}\n${error?.message ?? `exit status ${status}`}\n${written}`);
}

/** Installs a missing generator. Reports a failure; clients that need it are then skipped. */
function install({ name, path, commands = [] }) {
  if (path || commands.length === 0) return;
  console.log(`installing ${name}`);
  try {
    mkdirSync(TOOLS_DIRECTORY, { recursive: true });
    for (const command of commands) run(command, TOOLS_DIRECTORY);
  } catch (error) {
    console.log(error.message);
  }
}

function tellTools(tools) {
  for (const { name, path, hint, commands } of Object.values(tools)) {
    const how = commands ? commands.map((command) => command.join(' ')).join(' && ') : hint;
    console.log(path ? `found    ${name}: ${path}` : `missing  ${name}: ${how}`);
  }
  if (Object.values(tools).some(({ path, commands }) => !path && commands)) {
    console.log('Install missing generators: npm run test:generators -- --install');
  }
}

async function tryClient({ generate, compile, call }, tools, directory, demoAccess) {
  mkdirSync(directory, { recursive: true });
  for (const command of generate(tools, directory)) run(command, directory);
  for (const command of compile(tools, directory)) run(command, directory);
  if (call) run([...call(tools, directory), ...(await demoAccess())], directory);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      install: { type: 'boolean' },
      changed: { type: 'boolean' },
      stamp: { type: 'string' },
    },
  });
  const unknown = positionals.filter((name) => !(name in CLIENTS));
  if (unknown.length > 0)
    console.error(`Unknown: ${unknown.join(', ')}. There are ${Object.keys(CLIENTS).join(', ')}.`);
  if (values.help) console.log(HELP);
  if (unknown.length > 0) return 2;
  if (values.help) return 0;

  const stamp = new Stamp(values.stamp ?? STAMP, CONTRACT);
  const wanted = positionals.length > 0 ? positionals : Object.keys(CLIENTS);
  const names = values.changed
    ? wanted.filter((name) => stamp.isStale(name)).sort((one, other) => SLOW.indexOf(one) - SLOW.indexOf(other))
    : wanted;
  if (names.length === 0) {
    console.log('The contract is as every generator passed it.');
    return 0;
  }
  const deadline = values.changed ? Date.now() + CHANGED_LIMIT_MS : Infinity;
  if (values.install) Object.values(findTools()).forEach(install);
  const tools = findTools();
  tellTools(tools);

  const directory = mkdtempSync(join(tmpdir(), 'generators-'));
  const count = { passed: 0, failed: 0, skipped: 0 };
  const passed = [];
  let demo;
  try {
    for (const name of names) {
      const missing = CLIENTS[name].needs.filter((tool) => !tools[tool].path).map((tool) => tools[tool].name);
      if (missing.length > 0) {
        count.skipped += 1;
        console.log(`skipped  ${name}: needs ${missing.join(', ')}`);
        continue;
      }
      if (Date.now() > deadline) {
        count.skipped += 1;
        console.log(`skipped  ${name}: no time is left; run npm run test:generators`);
        continue;
      }
      const since = performance.now();
      const seconds = () => `${((performance.now() - since) / 1000).toFixed(1)} s`;
      try {
        await tryClient(CLIENTS[name], tools, join(directory, name), async () => {
          demo ??= startDemo(join(directory, 'demo'));
          return (await demo).access;
        });
        count.passed += 1;
        passed.push(name);
        console.log(`passed   ${name} (${CLIENTS[name].call ? 'compiled, called' : 'compiled'}) in ${seconds()}`);
      } catch (error) {
        count.failed += 1;
        console.log(`FAILED   ${name} in ${seconds()}\n${error.message}`);
      }
    }
  } finally {
    await demo?.then(({ stop }) => stop()).catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }
  if (!values.changed) stamp.add(passed);
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed === 0 && (count.passed > 0 || values.changed) ? 0 : 1;
}

process.exitCode = await main();
