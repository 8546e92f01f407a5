import { loadSettings } from '#libs/platform/config';
import { ApiClient } from './api-client';
import { ApiProcess } from './api-process';
import { freePort } from './free-port';
import { Arrangement } from './arrangement';
import { UNLIMITED } from './start-app';
import type { TestDatabase } from './test-database';

/** An instance of the API in a process of its own, with its ports and its log. */
export class ApiUnderWatch {
  private constructor(
    readonly process: ApiProcess,
    readonly arrange: Arrangement,
    readonly port: number,
    private readonly managementPort: number,
  ) {}

  /** `output`: a descriptor for the log, which is then not visible here. */
  static async start(
    database: TestDatabase,
    overrides: Record<string, string> = {},
    output: number | 'pipe' = 'pipe',
  ): Promise<ApiUnderWatch> {
    const [port, managementPort] = [await freePort(), await freePort()];
    const environment = {
      DATABASE_URL: database.databaseUrl,
      LOCAL_DIR: process.env['TEST_LOCAL_DIR'] as string,
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      ...UNLIMITED,
      ...overrides,
    };
    const api = new ApiProcess(environment, output);
    await (output === 'pipe' ? api.serving() : ready(managementPort));
    const arrange = new Arrangement(database.admin, loadSettings(environment), `http://127.0.0.1:${port}`);
    return new ApiUnderWatch(api, arrange, port, managementPort);
  }

  client(token?: string): ApiClient {
    return new ApiClient(`http://127.0.0.1:${this.port}`, token);
  }

  management(): ApiClient {
    return ApiClient.ofManagement(`http://127.0.0.1:${this.managementPort}`);
  }

  /** Returns every metric sample by name and labels, such as `up{a="b"}`. */
  async samples(): Promise<ReadonlyMap<string, number>> {
    const { text } = await this.management().get('/metrics');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  }

  /** Waits until `accept` accepts a sample. @throws its last value after a minute */
  async sample(name: string, accept: (value: number) => boolean): Promise<number> {
    for (const deadline = Date.now() + 60_000; ;) {
      const value = (await this.samples()).get(name);
      if (value !== undefined && accept(value)) return value;
      if (Date.now() > deadline) throw new Error(`${name} is ${value}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** All log lines so far. */
  get logLines(): Record<string, unknown>[] {
    const { output } = this.process;
    const whole = output.slice(0, output.lastIndexOf('\n'));
    return whole.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Waits for `count` log lines whose message matches. @throws after ten seconds */
  async linesSaying(message: RegExp, count: number): Promise<Record<string, unknown>[]> {
    for (const deadline = Date.now() + 10_000; ;) {
      const lines = this.logLines.filter((line) => message.test(String(line['message'])));
      if (lines.length >= count) return lines;
      if (Date.now() > deadline) throw new Error(`${lines.length} lines are like ${message.source}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop(): Promise<void> {
    await this.process.kill();
  }
}

/** Resolves once the instance is ready, even if it cannot write its log. */
async function ready(managementPort: number): Promise<void> {
  const management = ApiClient.ofManagement(`http://127.0.0.1:${managementPort}`);
  for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const response = await management.get('/readyz').catch(() => null);
    if (response?.status === 200) return;
    if (Date.now() > deadline) throw new Error('The process is not ready.');
  }
}
