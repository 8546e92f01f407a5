import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api-client';
import { type TestApp, startInstance } from './start-app';

/** Size of the read bucket, small enough to empty it quickly. */
export const BURST = 10;
const ENOUGH_WRITES = 21;
/** A rate so low that no token is refilled during a test. */
const SETTINGS = { RATE_LIMIT_READ: `1/${BURST}`, REPLICAS: '2' };
const ASSETS = '/v1/inventory/assets';

export interface ArrangedClient {
  readonly clientId: string;
  readonly token: string;
  /** The second instance issues a new token, which supersedes the previous one. */
  issue(): Promise<string>;
}

/** Two instances of the API that share a Redis. Only reads are limited. */
export class InstancesOnRedis {
  private running = true;
  private writers: Promise<void>[] = [];

  private constructor(
    private readonly first: TestApp,
    private readonly second: TestApp,
    private readonly workspace: string,
  ) {}

  /** Uses the database of a running API. The second instance may use another address of Redis. */
  static async start(api: TestApp, redisUrl: string, otherUrl = redisUrl): Promise<InstancesOnRedis> {
    const first = await startInstance(api, { ...SETTINGS, REDIS_URL: redisUrl });
    const second = await startInstance(api, { ...SETTINGS, REDIS_URL: otherUrl });
    return new InstancesOnRedis(first, second, await api.arrange.aWorkspace());
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.allSettled(this.writers);
    await this.second.stop();
    await this.first.stop();
  }

  /** Log lines of both instances about Redis, in order. Both run in one process and share a log. */
  get said(): string[] {
    return this.second.logLines.filter(({ context }) => context === 'Redis').map(({ message }) => String(message));
  }

  async aClient(suits: (clientId: string) => boolean = () => true): Promise<ArrangedClient> {
    for (;;) {
      const { clientId, clientSecret } = await this.first.arrange.anApplication(this.workspace);
      if (!suits(clientId)) continue;
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      const issue = async (): Promise<string> => {
        const response = await this.second.client().requestToken(form);
        if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
        return response.body['access_token'] as string;
      };
      return { clientId, token: await issue(), issue };
    }
  }

  /**
   * Sends too many reads to one instance and then to the other. Returns how many each allowed.
   * @throws for any status but 200 and 429
   */
  async passedBy(token: string): Promise<number[]> {
    const passed: number[] = [];
    for (const client of this.clients(token)) {
      const reads = Array.from({ length: BURST + 5 }, () => client.get(`${ASSETS}?pageSize=1`));
      const statuses = (await Promise.all(reads)).map(({ status }) => status);
      const wrong = statuses.filter((status) => status !== 200 && status !== 429);
      if (wrong.length > 0) throw new Error(`Responded ${wrong.join(', ')}`);
      passed.push(statuses.filter((status) => status === 200).length);
    }
    return passed;
  }

  /** Sends the token to both instances. Returns 200 or a code for each. */
  async accepted(token: string): Promise<unknown[]> {
    const path = await this.anAssetsPath();
    const responses = await Promise.all(this.clients(token).map((client) => client.patch(path, {})));
    return responses.map(({ status, body }) => (status === 200 ? 200 : body['code']));
  }

  /**
   * Sends writes of these clients until stopped, each to both instances at once with one key. The function that stops
   * waits until there were enough of them, and returns what was wrong.
   */
  async load(clients: readonly ArrangedClient[]): Promise<() => Promise<string[]>> {
    const wrong: string[] = [];
    let writes = 0;
    const paths: string[] = [];
    while (paths.length < clients.length) paths.push(await this.anAssetsPath());
    this.writers = clients.map(async ({ token }, index) => {
      for (; this.running || writes < ENOUGH_WRITES; writes += 1) {
        const outcome = await this.writeTwice(token, paths[index] as string);
        if (outcome !== null) wrong.push(outcome);
        await delay(40);
      }
    });
    return async () => {
      this.running = false;
      await Promise.all(this.writers);
      return wrong;
    };
  }

  /** Returns null when both responses are equal and one is a replay, else both responses. */
  private async writeTwice(token: string, path: string): Promise<string | null> {
    const [key, description] = [{ 'Idempotency-Key': randomUUID() }, randomUUID()];
    const responses = await Promise.all(this.clients(token).map((client) => client.patch(path, { description }, key)));
    const replays = responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    const same = new Set(responses.map(({ status, text }) => `${status} ${text}`));
    if (same.size === 1 && responses[0]?.status === 200 && replays.length === 1) return null;
    return `${replays.length} replays of ${[...same].join(' and ')}`;
  }

  private async anAssetsPath(): Promise<string> {
    return `${ASSETS}/${(await this.first.arrange.anAsset(this.workspace)).id}`;
  }

  private clients(token: string): ApiClient[] {
    return [this.first.client(token), this.second.client(token)];
  }
}
