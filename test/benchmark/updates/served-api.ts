import type { WorkspaceId } from '#libs/kernel';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Cluster } from '../cluster';
import type { MeasuredProcess } from '../measured-process';
import { readWhole } from '../streams/whole-stream';
import { accessTo, arrangementAt, startApi } from '../servers';
import { KeepAliveConnection } from '../keep-alive-connection';

/** The real API in a process of its own, and a client with one persistent connection. */
export class ServedApi {
  private constructor(
    private readonly process: MeasuredProcess,
    private readonly connection: KeepAliveConnection,
    private readonly authorization: string,
  ) {}

  static async start(cluster: Cluster, database: BenchmarkDatabase, workspace: WorkspaceId): Promise<ServedApi> {
    const process = await startApi(cluster, database.databaseUrl);
    const access = await accessTo(process.port, arrangementAt(cluster, database, process.port), workspace);
    return new ServedApi(process, await KeepAliveConnection.open(process.port), access.authorization);
  }

  /** Returns the body of the response. @throws unless the status is 200 and the response is a replay as expected */
  async patch(path: string, key: string, body: object, expected: 'first' | 'replay'): Promise<string> {
    const headers = {
      Authorization: this.authorization,
      'Idempotency-Key': key,
      'Content-Type': 'application/json',
    };
    const response = await this.connection.send('PATCH', path, headers, JSON.stringify(body));
    const replayed = /^idempotent-replayed: true$/im.test(response.head);
    if (response.status !== 200 || replayed !== (expected === 'replay')) {
      throw new Error(`${path}: ${response.status}, replayed ${replayed}: ${response.body}`);
    }
    return response.body;
  }

  /** @throws unless the status is 200 */
  async get(path: string): Promise<void> {
    const response = await this.connection.send('GET', path, { Authorization: this.authorization }, '');
    if (response.status !== 200) throw new Error(`${path}: ${response.status}: ${response.body}`);
  }

  /** Reads a whole stream. Returns the milliseconds that it took. */
  async stream(path: string): Promise<number> {
    const { process: server, authorization } = this;
    return (await readWhole({ server, authorization, path })).seconds * 1_000;
  }

  /** CPU time of the API's process since its start. */
  cpuMilliseconds(): Promise<number> {
    return this.process.cpuMilliseconds();
  }

  async stop(): Promise<void> {
    this.connection.close();
    await this.process.stop();
  }
}
