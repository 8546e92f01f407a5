// docs/connectors/dlt.md, run by dlt into DuckDB.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './commands.mjs';
import { writePageFiles } from './page-files.mjs';

const READER = join(dirname(fileURLToPath(import.meta.url)), 'read_duckdb.py');
const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export class DltConnector {
  applications = [['inventory:read', 'computers:read']];
  /** Changes that an idle run may repeat. */
  repeats = 0;

  constructor(program, directory) {
    this.python = join(dirname(program), 'python');
    this.directory = directory;
  }

  prepare(origin, [application]) {
    writePageFiles('connectors/dlt.md', this.directory);
    this.environment = {
      BASE_URL: origin,
      CLIENT_ID: application.id,
      CLIENT_SECRET: application.secret,
      HOME: this.directory,
      DLT_DATA_DIR: join(this.directory, 'dlt'),
      RUNTIME__DLTHUB_TELEMETRY: 'false',
    };
  }

  /** Returns the number of changes that it got. */
  async sync() {
    const said = await this.run('mirror.py');
    const [, assets, computers] = /^(\d+) changes of assets, (\d+) of computers$/m.exec(said);
    return Number(assets) + Number(computers);
  }

  async mirror() {
    return JSON.parse(await this.run(READER, 'compliance.duckdb'));
  }

  /** The asset or computer as its row has it: dlt leaves out columns that are always null. */
  same(expected, row) {
    return Object.entries(expected).every(
      ([key, value]) => JSON.stringify(sorted(row[snakeCase(key)] ?? null)) === JSON.stringify(sorted(value)),
    );
  }

  run(...words) {
    return run([this.python, ...words], { cwd: this.directory, environment: this.environment });
  }
}

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
};
