// docs/connectors/elastic.md, run by mito. Elastic's input and index are here.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { writePageFiles } from './page-files.mjs';

const FEEDS = {
  assets: { path: '/v1/inventory/changes', item: 'asset' },
  computers: { path: '/v1/computers/changes', item: 'computer' },
  audit: { path: '/v1/audit-events' },
};

export class ElasticConnector {
  applications = [['inventory:read'], ['computers:read'], ['audit:read']];
  repeats = 0;

  constructor(program, directory) {
    this.program = program;
    this.directory = directory;
  }

  prepare(origin, applications) {
    writePageFiles('connectors/elastic.md', this.directory);
    this.states = {};
    this.documents = { assets: [], computers: [], audit: [] };
    Object.entries(FEEDS).forEach(([feed, { path }], place) => {
      const { id, secret } = applications[place];
      this.states[feed] = { url: origin, path, client_id: id, client_secret: secret };
    });
  }

  /** Returns the number of changes that it got, without audit events. */
  async sync() {
    const changes = (await this.interval('assets')) + (await this.interval('computers'));
    await this.interval('audit');
    return changes;
  }

  /** Every audit event that it got, in the order in which it came. */
  auditEvents() {
    return this.documents.audit.map(({ body }) => body);
  }

  /** One interval of the input: evaluates the program until it wants no more. */
  async interval(feed) {
    writeFileSync(join(this.directory, 'state.json'), JSON.stringify(this.states[feed]));
    const output = await run([this.program, '-data', 'state.json', 'feed.cel'], { cwd: this.directory });
    let changes = 0;
    for (const text of output.trim().split(/(?<=^\})\n(?=\{)/m)) {
      const { events, ...state } = JSON.parse(text);
      this.states[feed] = state;
      if (!Array.isArray(events)) throw new Error(events.error.message);
      changes += events.length;
      for (const { message, load } of events) this.documents[feed].push({ load, body: JSON.parse(message) });
    }
    return changes;
  }

  /** The last event of each id, without those of an older load and the removed ones. */
  mirror() {
    const copy = (feed) => {
      const newest = this.documents[feed].at(-1)?.load;
      const current = this.documents[feed].filter(({ load }) => load === newest).map(({ body }) => body);
      const last = new Map(current.map((change) => [change.id, change]));
      const kept = [...last.values()].filter(({ type }) => type !== 'REMOVED');
      return Object.fromEntries(kept.map((change) => [change.id, change[FEEDS[feed].item]]));
    };
    return { assets: copy('assets'), computers: copy('computers') };
  }
}
