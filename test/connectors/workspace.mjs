// The demo's workspace as its operator and an API client see it, and an hour of its changes.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startDemo } from '../support/demo-api.mjs';
import { run } from './commands.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Assets beside those of the demo, so that a first load has several pages. */
const MORE_ASSETS = 3_000;
const COMPUTERS = 100;
const EMPLOYEES = 30;
/** Computers from here on belong to employees who leave. */
const LEFT_BEHIND = 60;
const ENOUGH = '6000/6000';
const RETRY_MS = 200;

const custom = (number, more = {}) => ({
  categoryKey: 'CUSTOM',
  externalId: `c-${number}`,
  name: `Badge ${number}`,
  ...more,
});
const employee = (number, more = {}) => ({
  ...{ categoryKey: 'EMPLOYEE', externalId: `hr-${number}`, name: `Ada ${number}`, email: `ada-${number}@example.com` },
  ...more,
});
const computer = (number, isEncrypted) => ({
  ...{
    categoryKey: 'COMPUTER',
    externalId: `pc-${number}`,
    name: `laptop-${number}`,
    owner: `hr-${(number % 15) + (number < LEFT_BEHIND ? 0 : 15)}`,
  },
  ...{ operatingSystem: 'macOS', osVersion: '15.1', managed: true, serialNumber: `SN${number}` },
  compliance: { agentVersion: '2.4.0', antivirusInstalled: true, diskEncryptionEnabled: isEncrypted },
});
const numbers = (from, count) => Array.from({ length: count }, (_, place) => from + place);

export class Workspace {
  requests = [];
  /** Milliseconds between which the API was away. */
  outage = [Infinity, Infinity];
  #unfinished = '';
  #demo;

  constructor(directory, port) {
    this.directory = directory;
    this.port = port;
  }

  async start() {
    const environment = { LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
    const log = (text) => this.#read(text);
    this.#demo = await startDemo(join(this.directory, 'demo'), { port: this.port, environment, log });
    [this.origin, this.clientId, this.clientSecret] = this.#demo.access;
  }

  stop() {
    return this.#demo?.stop();
  }

  /** Kills the API by SIGKILL and starts the demo again at the same address. */
  async crash() {
    this.outage = [Date.now(), Infinity];
    await this.#demo.killApi();
    await this.start();
    this.outage[1] = Date.now();
  }

  async fill() {
    await this.admin('applications', 'set-limits', this.clientId, '--read', ENOUGH, '--write', ENOUGH);
    const body = `grant_type=client_credentials&client_id=${this.clientId}&client_secret=${this.clientSecret}`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${this.origin}/oauth/token`, { method: 'POST', headers, body });
    this.token = (await response.json()).access_token;
    await this.import([
      ...numbers(0, EMPLOYEES).map((number) => employee(number)),
      ...numbers(0, COMPUTERS).map((number) => computer(number, true)),
      ...numbers(0, MORE_ASSETS).map((number) => custom(number)),
    ]);
  }

  /** An application for a connector, with few reads, so that it meets a 429. */
  async application(name, scopes) {
    const words = ['--workspace', 'demo', '--name', name, ...scopes.flatMap((scope) => ['--scope', scope])];
    const { client_id: id, client_secret: secret } = await this.admin('applications', 'create', ...words);
    return { id, secret };
  }

  /** An hour of changes within `seconds`: updates, imports, removals and tag keys, and a crash of the API in the middle. */
  async changeForAnHour(seconds) {
    const { assets } = await this.walk();
    // Employees are read-only.
    const ids = Object.keys(assets).filter((id) => assets[id].categoryKey !== 'EMPLOYEE');
    for (let second = 0; second < seconds; second += 1) {
      const began = Date.now();
      const updates = numbers(second * 4, 4).map((number) =>
        this.update(ids[(number * 7) % ids.length], {
          description: `Reviewed ${number}`,
          classification: number % 2 ? 'INTERNAL' : 'CONFIDENTIAL',
          ...(second > 20 && second < 40 ? { tags: [{ key: 'reviewed' }] } : {}),
        }),
      );
      if (second === Math.floor(seconds / 2)) await this.crash();
      if (second === 15) await this.admin('tag-keys', 'create', '--workspace', 'demo', '--key', 'reviewed');
      if (second === 45) await this.admin('tag-keys', 'delete', '--workspace', 'demo', '--key', 'reviewed', '--yes');
      if (second % 6 === 3) await this.import(this.#round((second - 3) / 6));
      await Promise.all(updates);
      await delay(Math.max(0, began + 1_000 - Date.now()));
    }
  }

  /** The lines of one import: new, renamed, hidden, deleted and returned assets, and other postures. */
  #round(round) {
    const place = round * 20;
    const returned = round > 0 ? numbers(place - 20, 5).map((number) => custom(number)) : [];
    return [
      ...numbers(MORE_ASSETS + place, 10).map((number) => custom(number)),
      ...numbers(place, 5).map((number) => custom(number, { visibility: 'HIDDEN' })),
      ...numbers(place + 5, 3).map((number) => custom(number, { visibility: 'DELETED' })),
      ...numbers(place + 8, 12).map((number) => custom(number, { name: `Badge ${number}, renamed` })),
      ...returned,
      ...numbers(round * 5, 5).map((number) => computer(number, false)),
      employee(EMPLOYEES - 1 - round, { visibility: 'HIDDEN' }),
    ];
  }

  /** One transaction with one asset, which is a computer. */
  changeOneComputer() {
    return this.import([computer(LEFT_BEHIND - 1, false)]);
  }

  async changeAssets(count) {
    const { assets } = await this.walk();
    const ids = Object.keys(assets).filter((id) => assets[id].categoryKey === 'CUSTOM');
    for (const id of ids.slice(0, count)) await this.update(id, { description: `Changed ${randomUUID()}` });
  }

  /** Removes two assets and purges them for good, so that older cursors are refused. */
  async purgeRemoved() {
    await this.import(numbers(MORE_ASSETS - 2, 2).map((number) => custom(number, { visibility: 'HIDDEN' })));
    const now = new Date().toISOString();
    await this.admin('assets', 'purge', '--workspace', 'demo', '--removed-before', now, '--yes');
  }

  async import(records) {
    const file = join(this.directory, 'import.ndjson');
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { failed } = await this.admin('import', '--workspace', 'demo', '--source', 'connectors', file);
    if (failed > 0) throw new Error(`${failed} lines of an import failed`);
  }

  /** Sends an update until it gets a response, under one idempotency key. */
  async update(id, patch) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
    const body = JSON.stringify(patch);
    const response = await this.#request(`/v1/inventory/assets/${id}`, { method: 'PATCH', headers, body });
    // An import may have removed the asset.
    if (![200, 404].includes(response.status)) throw new Error(`an update was refused: ${await response.text()}`);
  }

  /** Every asset and computer, by the lists. */
  async walk() {
    return { assets: await this.#list('/v1/inventory/assets'), computers: await this.#list('/v1/computers') };
  }

  /** Every sealed audit event, and the age of the oldest one that is not sealed yet. */
  async auditEvents() {
    const events = [];
    for (let cursor = ''; ;) {
      const response = await this.#request(`/v1/audit-events?pageSize=1000${cursor}`);
      const { results, pageInfo, resumeCursor, lagSeconds } = await response.json();
      events.push(...results);
      if (!pageInfo.hasNextPage) return { events, lagSeconds };
      cursor = `&pageCursor=${resumeCursor}`;
    }
  }

  async #list(path) {
    const found = {};
    for (let cursor = ''; cursor !== null;) {
      const response = await this.#request(`${path}?pageSize=100${cursor && `&pageCursor=${cursor}`}`);
      const { results, pageInfo } = await response.json();
      for (const item of results) found[item.id] = item;
      cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    }
    return found;
  }

  async #request(path, { headers = {}, ...options } = {}) {
    for (;;) {
      const sent = { ...options, headers: { ...headers, Authorization: `Bearer ${this.token}` } };
      const response = await fetch(this.origin + path, sent).catch(() => null);
      if (response && response.status < 429) return response;
      await response?.body?.cancel();
      await delay(RETRY_MS);
    }
  }

  /** Runs an operator's command and returns its JSON. */
  async admin(...words) {
    const command = [process.execPath, join(ROOT, 'apps/admin/run.mjs'), ...words, '--json'];
    return JSON.parse(await run(command, { environment: { LOCAL_DIR: join(this.directory, 'demo') } }));
  }

  #read(text) {
    const lines = (this.#unfinished + text).split('\n');
    this.#unfinished = lines.pop();
    for (const line of lines) {
      if (line.startsWith('{') && line.includes('"message":"request"')) this.requests.push(JSON.parse(line));
    }
  }
}
