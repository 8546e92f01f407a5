// docs/connectors/airbyte.md, run by source-declarative-manifest. The destination is here.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { writePageFiles } from './page-files.mjs';

const STREAMS = ['assets', 'computers'];

export class AirbyteConnector {
  applications = [['inventory:read', 'computers:read']];
  /** Each stream repeats the newest transaction that it saw. */
  repeats = STREAMS.length;

  constructor(program, directory) {
    this.program = program;
    this.directory = directory;
    this.clear();
  }

  /** Clears the data of the connection, as its page says to do at 410. */
  clear() {
    this.records = { assets: new Map(), computers: new Map() };
    this.states = new Map();
  }

  async prepare(origin, [application]) {
    writePageFiles('connectors/airbyte.md', this.directory);
    this.write('config.json', { base_url: origin, client_id: application.id, client_secret: application.secret });
    await this.run('spec');
    const checked = await this.run('check', '--config', 'config.json');
    const { connectionStatus } = checked.find(({ type }) => type === 'CONNECTION_STATUS');
    if (connectionStatus.status !== 'SUCCEEDED') throw new Error(connectionStatus.message);
    const discovered = await this.run('discover', '--config', 'config.json');
    const { streams } = discovered.find(({ type }) => type === 'CATALOG').catalog;
    const configured = streams.map((stream) => ({
      stream,
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
    }));
    this.write('catalog.json', { streams: configured });
  }

  /** Returns the number of changes that it got. */
  async sync() {
    const words = ['read', '--config', 'config.json', '--catalog', 'catalog.json'];
    if (this.states.size > 0) {
      this.write('state.json', [...this.states.values()]);
      words.push('--state', 'state.json');
    }
    const messages = await this.run(...words);
    let changes = 0;
    for (const { type, record, state } of messages) {
      if (type === 'RECORD') {
        changes += 1;
        this.records[record.stream].set(record.data.id, record.data);
      }
      if (type === 'STATE') this.states.set(state.stream.stream_descriptor.name, state);
    }
    return changes;
  }

  /** Deduplicates by primary key and drops deleted rows, as destinations do. */
  mirror() {
    const kept = (stream, item) =>
      [...this.records[stream].values()]
        .filter((record) => !record['_ab_cdc_deleted_at'])
        .map((record) => [record.id, record[item]]);
    return Object.fromEntries(STREAMS.map((name) => [name, Object.fromEntries(kept(name, name.slice(0, -1)))]));
  }

  write(name, value) {
    writeFileSync(join(this.directory, name), JSON.stringify(value));
  }

  async run(...words) {
    const command = [this.program, ...words, '--manifest-path', 'manifest.yaml'];
    const output = await run(command, { cwd: this.directory, environment: { HOME: this.directory } });
    return output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }
}
