import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { loadSettings } from '#libs/platform';
import { Arrangement } from '../support/arrangement';
import { UNLIMITED } from '../support/start-app';
import { type TestDatabase } from '../support/test-database';
import type { ApiChildMessage } from './api-child';

/** The real application, serving HTTP in a process of its own, and one client with one connection that stays open. */
export class ServedApi {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    private readonly authorization: string,
  ) {}

  static async start(options: {
    readonly database: TestDatabase;
    /** How the application reaches the database: by way of a proxy, perhaps. */
    readonly databaseUrl: string;
    readonly redisUrl: string;
    readonly localDir: string;
    readonly workspace: string;
  }): Promise<ServedApi> {
    const environment = {
      NODE_ENV: 'test',
      DATABASE_URL: options.databaseUrl,
      REDIS_URL: options.redisUrl,
      LOCAL_DIR: options.localDir,
      BASE_URL: 'https://api.example.test',
      ...UNLIMITED,
    };
    const child = fork(join(__dirname, 'api-child.ts'), {
      env: { PATH: process.env['PATH'], ...environment },
      // The log is written as in production, to where it costs no disk.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const { port } = await told(child, 'port');
    const arrange = new Arrangement(options.database.admin, loadSettings(environment), `http://127.0.0.1:${port}`);
    return new ServedApi(child, port, `Bearer ${await arrange.aToken(options.workspace)}`);
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
    const { agent, port } = this;
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

  /** Of the application's process, in milliseconds since its start. */
  async cpuMilliseconds(): Promise<number> {
    this.child.send('cpu');
    const { cpuUsage } = await told(this.child, 'cpuUsage');
    return (cpuUsage.user + cpuUsage.system) / 1000;
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    const gone = once(this.child, 'exit');
    this.child.disconnect();
    await gone;
  }
}

/** The next message of the child; throws when it ends instead. */
async function told<Member extends 'port' | 'cpuUsage'>(
  child: ChildProcess,
  member: Member,
): Promise<Extract<ApiChildMessage, Record<Member, unknown>>> {
  const ended = new AbortController();
  const exit = once(child, 'exit', { signal: ended.signal }).then(
    () => Promise.reject(new Error('The application ended.')),
    () => new Promise<never>(() => undefined),
  );
  try {
    const [message] = (await Promise.race([once(child, 'message'), exit])) as [ApiChildMessage];
    if (!(member in message)) throw new Error(`It said ${JSON.stringify(message)}.`);
    return message as Extract<ApiChildMessage, Record<Member, unknown>>;
  } finally {
    ended.abort();
  }
}
