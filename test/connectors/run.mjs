// `npm run test:connectors`: mirrors the demo with the stock tools of docs/connectors, and discovers it with Authlib.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { AirbyteConnector } from './airbyte.mjs';
import { killCommands, run } from './commands.mjs';
import { DltConnector } from './dlt.mjs';
import { ElasticConnector } from './elastic.mjs';
import { runWithoutSecret } from './no-secret.mjs';
import { TOOLS_DIRECTORY, findProgram, findTools, install, tellTools } from './tools.mjs';
import { Workspace } from './workspace.mjs';

const CONNECTORS = { dlt: DltConnector, airbyte: AirbyteConnector, elastic: ElasticConnector };
const NAMES = [...Object.keys(CONNECTORS), 'authlib'];
const DISCOVER = join(dirname(fileURLToPath(import.meta.url)), 'discover.py');
const SECONDS = 60;
const LIMIT_MINUTES = 20;

const HELP = `Usage: npm run test:connectors -- [--install] [NAME...]

Starts the demo with about 3,600 assets. Runs the code of docs/connectors with the real tools: ${Object.keys(CONNECTORS).join(', ')}.
Each loads everything, follows an hour of changes within ${SECONDS} seconds while the API is killed once, and begins again at 410.
Each copy is compared with all pages of the lists. The name authlib is a stock OAuth client, which only gets its tokens,
by a secret and, beside openssl, jose and Go, without one.

  --install  first install the packages that are missing, into ${TOOLS_DIRECTORY}
  --help     show this

One whose tool is missing is skipped, and the way to get the tool is shown. A run takes about six minutes, and at most
${LIMIT_MINUTES}. The last line is "N passed, N failed[, N skipped]"; the exit status is 1 when anything failed or nothing passed.`;

/** Time for a connector to get over a 429 or an outage. */
const SETTLE_MS = 120_000;
const PAUSE_MS = 2_000;
/** `Retry-After` of the applications is at least a second; the log's times are those of responses. */
const SHORTEST_WAIT_MS = 900;

const count = { passed: 0, failed: 0, skipped: 0 };

async function check(title, body) {
  const since = performance.now();
  const seconds = () => `${((performance.now() - since) / 1000).toFixed(1)} s`;
  try {
    const note = await body();
    count.passed += 1;
    console.log(`passed   ${title} (${note}) in ${seconds()}`);
  } catch (error) {
    count.failed += 1;
    console.log(`FAILED   ${title} in ${seconds()}\n${error.message}`);
  }
}

function demand(condition, message) {
  if (!condition) throw new Error(message);
}

/** Runs a connector until it succeeds. Returns the number of changes that the last run got. */
async function settle(connector) {
  for (const until = Date.now() + SETTLE_MS; ;) {
    try {
      return await connector.sync();
    } catch (error) {
      if (Date.now() > until) throw error;
      await delay(PAUSE_MS);
    }
  }
}

async function compare(connector, workspace) {
  const [expected, copy] = [await workspace.walk(), await connector.mirror()];
  const same = connector.same?.bind(connector) ?? isDeepStrictEqual;
  for (const feed of ['assets', 'computers']) {
    const ids = new Set([...Object.keys(expected[feed]), ...Object.keys(copy[feed])]);
    const others = [...ids].filter(
      (id) => !(expected[feed][id] && copy[feed][id] && same(expected[feed][id], copy[feed][id])),
    );
    const [id] = others;
    const first = () => `${JSON.stringify(expected[feed][id])}\n${JSON.stringify(copy[feed][id])}`;
    demand(others.length === 0, `${others.length} of ${ids.size} ${feed} differ; the first:\n${first()}`);
  }
  return Object.keys(expected.assets).length + Object.keys(expected.computers).length;
}

const feedRequests = (connector, workspace) =>
  workspace.requests.filter(({ clientId, route }) => connector.clientIds.has(clientId) && route.endsWith('/changes'));

/** Checks that after a 429 the connector was silent for as long as it was told. Returns the number of 429. */
function waitsAfter429(connector, workspace) {
  const requests = feedRequests(connector, workspace);
  const refused = requests.filter(({ status }) => status === 429);
  for (const { time, clientId } of refused) {
    const next = requests.find((one) => one.clientId === clientId && one.time > time);
    const waited = next ? Date.parse(next.time) - Date.parse(time) : Infinity;
    demand(waited >= SHORTEST_WAIT_MS, `the next request came ${waited} ms after a 429`);
  }
  demand(refused.length > 0, 'there was no 429');
  return refused.length;
}

async function followUntil(connector, over, workspace, failures) {
  while (!over.aborted) {
    const began = Date.now();
    try {
      await connector.sync();
    } catch (error) {
      const [from, to] = workspace.outage;
      const isExpected = / 429|rate_limited/.test(error.message) || (began < to && Date.now() > from);
      if (!isExpected) failures.push(`${connector.name}: ${error.message}`);
    }
    await delay(PAUSE_MS);
  }
}

async function testConnectors(connectors, workspace) {
  for (const connector of connectors) {
    await check(`${connector.name} loads everything and waits after a 429`, async () => {
      const changes = await settle(connector);
      const size = await compare(connector, workspace);
      const requests = feedRequests(connector, workspace).length;
      return `${size} assets and computers, ${changes} in the last run, ${requests} requests, ${waitsAfter429(connector, workspace)} refused`;
    });
  }

  console.log(`changing ${connectors.length > 0 ? 'what they mirror' : ''} for ${SECONDS} s`);
  const over = new AbortController();
  const failures = [];
  const following = connectors.map((connector) => followUntil(connector, over.signal, workspace, failures));
  await workspace.changeForAnHour(SECONDS).finally(() => over.abort());
  await Promise.all(following);
  for (const connector of connectors) {
    await check(`${connector.name} equals the table after an hour of changes and a kill -9 of the API`, async () => {
      const own = failures.filter((failure) => failure.startsWith(`${connector.name}:`));
      demand(own.length === 0, own.join('\n'));
      await settle(connector);
      const requests = feedRequests(connector, workspace).length;
      return `${await compare(connector, workspace)} assets and computers, ${requests} requests so far`;
    });
  }

  await workspace.changeOneComputer();
  for (const connector of connectors) await settle(connector).catch(() => undefined);
  const idle = new Map();
  for (const connector of connectors) idle.set(connector, await settle(connector).catch((error) => error.message));
  await workspace.changeAssets(3);
  for (const connector of connectors) {
    await check(`${connector.name} transfers only what changed`, async () => {
      const { repeats } = connector;
      demand(idle.get(connector) === repeats, `an idle run transferred ${idle.get(connector)}`);
      const changes = await settle(connector);
      demand(changes === 3 + repeats, `a run after three changes transferred ${changes}`);
      await compare(connector, workspace);
      return `${idle.get(connector)} when nothing changed, ${changes} after three changes`;
    });
  }

  await workspace.purgeRemoved();
  for (const connector of connectors) {
    await check(`${connector.name} begins again at 410`, async () => {
      if (connector.clear) {
        const failure = await connector.sync().then(
          () => 'none',
          (error) => error.message,
        );
        demand(failure.includes('purged'), `the failure was ${failure}`);
        connector.clear();
      }
      await settle(connector);
      const size = await compare(connector, workspace);
      const expired = feedRequests(connector, workspace).filter(({ status }) => status === 410).length;
      demand(expired > 0, 'there was no 410');
      return `${size} assets and computers`;
    });
  }

  for (const connector of connectors.filter(({ auditEvents }) => auditEvents)) {
    const title = `${connector.name} forwards every audit event once, in order`;
    await check(title, () => checkAuditEvents(connector, workspace));
  }
}

/** Checks that every audit event came once, in order, unchanged and without gaps. */
async function checkAuditEvents(connector, workspace) {
  for (let lag = Infinity; lag > 0; await delay(PAUSE_MS)) lag = (await workspace.auditEvents()).lagSeconds;
  await settle(connector);
  const { events } = await workspace.auditEvents();
  const gap = events.findIndex(({ sequence }, place) => sequence !== place + 1);
  demand(gap === -1, `the list has a gap before its place ${gap}`);
  const forwarded = connector.auditEvents();
  const other = events.findIndex((event, place) => !isDeepStrictEqual(event, forwarded[place]));
  demand(
    other === -1,
    `event ${other + 1} differs:\n${JSON.stringify(events[other])}\n${JSON.stringify(forwarded[other])}`,
  );
  demand(forwarded.length === events.length, `${forwarded.length} events came, and the list has ${events.length}`);
  return `${events.length} events`;
}

/** Checks that Authlib gets from the challenge of a 401 to tokens that the API accepts. */
async function testDiscovery(program, workspace) {
  const { id, secret } = await workspace.application('authlib', ['inventory:read']);
  const environment = { BASE_URL: workspace.origin, CLIENT_ID: id, CLIENT_SECRET: secret };
  await check('Authlib finds its way from a 401 to a token, and names a wrong secret', async () => {
    return (await run([join(dirname(program), 'python'), DISCOVER], { environment })).trim();
  });
}

/** Checks the programs of docs/use-no-secret.md. */
async function testWithoutSecret(program, workspace) {
  await check('the programs of "Use no secret" get tokens by a key of their own', () =>
    runWithoutSecret(workspace, join(dirname(program), 'python'), findProgram('go')),
  );
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function testIn(directory, names, tools) {
  const workspace = new Workspace(directory, await freePort());
  const stop = async () => {
    killCommands();
    await workspace.stop()?.catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  };
  const giveUp = (reason) => {
    console.log(reason);
    void stop().finally(() => process.exit(1));
  };
  const late = setTimeout(() => giveUp(`FAILED   not done within ${LIMIT_MINUTES} minutes`), LIMIT_MINUTES * 60_000);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => giveUp(`stopped by ${signal}`));
  try {
    console.log('starting the demo');
    await workspace.start();
    await workspace.fill();
    if (names.includes('authlib')) {
      await testDiscovery(tools.authlib.path, workspace);
      await testWithoutSecret(tools.authlib.path, workspace);
    }
    const connectors = [];
    for (const name of names.filter((one) => one in CONNECTORS)) {
      const own = join(directory, name);
      mkdirSync(own);
      const connector = new CONNECTORS[name](tools[name].path, own);
      const applications = [];
      for (const scopes of connector.applications) {
        const application = await workspace.application(name, scopes);
        await workspace.admin('applications', 'set-limits', application.id, '--read', '30/1');
        applications.push(application);
      }
      Object.assign(connector, { name, clientIds: new Set(applications.map(({ id }) => id)) });
      await connector.prepare(workspace.origin, applications);
      connectors.push(connector);
    }
    if (connectors.length > 0) await testConnectors(connectors, workspace);
  } finally {
    clearTimeout(late);
    await stop();
  }
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' }, install: { type: 'boolean' } },
  });
  const unknown = positionals.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    console.error(`Unknown: ${unknown.join(', ')}. There are ${NAMES.join(', ')}.`);
    return 2;
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }

  const names = positionals.length > 0 ? positionals : NAMES;
  if (values.install) for (const name of names) install(findTools()[name]);
  const tools = findTools();
  tellTools(names.map((name) => tools[name]));
  const found = names.filter((name) => tools[name].path);
  for (const name of names.filter((one) => !found.includes(one))) {
    count.skipped += 1;
    console.log(`skipped  ${name}: needs ${tools[name].name}`);
  }
  if (found.length > 0) {
    await testIn(mkdtempSync(join(tmpdir(), 'connectors-')), found, tools).catch((error) => {
      count.failed += 1;
      console.log(`FAILED   ${error.stack}`);
    });
  }
  const { passed, failed, skipped } = count;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

process.exitCode = await main();
