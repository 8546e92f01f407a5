import { Agent, request } from 'node:http';
import type { WorkspaceId } from '#libs/kernel';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Cluster } from '../cluster';
import type { MeasuredProcess } from '../measured-process';
import { accessTo, arrangementAt, startApi } from '../servers';

/** The real application, serving HTTP in a process of its own, and one client with one connection that stays open. */
export class ServedApi {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(
    private readonly process: MeasuredProcess,
    private readonly authorization: string,
  ) {}

  static async start(cluster: Cluster, database: BenchmarkDatabase, workspace: WorkspaceId): Promise<ServedApi> {
    const process = await startApi(cluster, database.databaseUrl);
    const access = await accessTo(process.port, arrangementAt(cluster, database, process.port), workspace);
    return new ServedApi(process, access.authorization);
  }

  /** Gives the body of the answer. Throws unless it is 200, and a replay exactly when one is expected. */
  patch(path: string, key: string, body: object, expected: 'first' | 'replay'): Promise<string> {
    const payload = JSON.stringify(body);
    const headers = {
      Authorization: this.authorization,
      'Idempotency-Key': key,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(payload),
    };
    const {
      agent,
      process: { port },
    } = this;
    return new Promise((resolve, reject) => {
      const sent = request({ agent, port, host: '127.0.0.1', path, method: 'PATCH', headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => (text += chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const replayed = answer.headers['idempotent-replayed'] === 'true';
          if (answer.statusCode === 200 && replayed === (expected === 'replay')) resolve(text);
          else reject(new Error(`${path}: ${answer.statusCode}, replayed ${replayed}: ${text}`));
        });
      });
      sent.on('error', reject);
      sent.end(payload);
    });
  }

  /** Of the application's process, since its start. */
  cpuMilliseconds(): Promise<number> {
    return this.process.cpuMilliseconds();
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    await this.process.stop();
  }
}
