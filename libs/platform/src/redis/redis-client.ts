import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { Tally } from '../observability/tally';
import { CircuitBreaker, RedisAway } from './circuit-breaker';
import { redisAt } from './connect-redis';
import { GuardedCommands, sendNow } from './guarded-commands';
import { parseRedisUrl } from '../config/redis-address';
import type { RedisCommands } from './redis-commands';
import { reasonOf, refusesDatabase, tellsWhy } from './redis-fault';

/** The start of the process waits this long for Redis. */
const FIRST_CONNECTION_MS = 2_000;
/** The same refusal of a command is logged this often. */
const COMPLAINT_EVERY_MS = 60_000;
const ANY_KEY = '{ping}';

export type RedisState = 'not configured' | 'ok' | 'away';

/**
 * Redis as something that may be away at any time, or not be there at all. It only ever helps: whoever asks knows what to do
 * without it.
 */
export class RedisClient implements OnModuleInit, OnApplicationShutdown {
  /** How often Redis was found to be away (opened) and back (closed). */
  readonly transitions = new Tally(['opened', 'closed']);
  private readonly logger = new Logger('Redis');
  private readonly client: Redis | Cluster | null;
  private readonly commands: RedisCommands | null;
  private readonly breaker: CircuitBreaker;
  private readonly complaints = new Map<string, number>();
  /** When Redis was back the last time, by `performance.now()`. */
  private returnedAt = -Infinity;
  /** What went wrong with a connection last. */
  private fault: unknown;

  /** Null: there is none. @throws `RedisUrlInvalid` */
  constructor(url: string | null) {
    this.breaker = new CircuitBreaker(
      {
        opened: (error) => {
          this.transitions.add('opened');
          this.logger.warn(`Redis is away, and is done without: ${reasonOf(error, this.fault)}`);
        },
        closed: () => {
          this.transitions.add('closed');
          this.fault = undefined;
          this.returned();
          this.logger.warn('Redis answers again.');
        },
        probeFailed: () => this.reconnect(),
      },
      (key) => this.probe(key),
    );
    this.client = url === null ? null : redisAt(parseRedisUrl(url));
    this.commands = this.client && new GuardedCommands(this.client, this.breaker);
    if (this.client) this.watch(this.client);
  }

  get isConfigured(): boolean {
    return this.client !== null;
  }

  /** As the last commands found it. After an outage it is `ok` within two seconds, also if nobody asks. */
  get state(): RedisState {
    if (!this.client) return 'not configured';
    return this.breaker.isClosed ? 'ok' : 'away';
  }

  /** Waits for the first connection. A Redis that is away does not keep the process from starting. */
  async onModuleInit(): Promise<void> {
    if (!this.client) return;
    const patience = new AbortController();
    const late = delay(FIRST_CONNECTION_MS, undefined, { signal: patience.signal }).then(() => {
      throw new Error('Connection is closed.');
    });
    try {
      await Promise.race([this.connect(this.client), late]);
    } catch (error) {
      this.breaker.open(ANY_KEY, error);
    } finally {
      late.catch(() => undefined);
      patience.abort();
    }
  }

  /** The outcome of `work`; `undefined` when Redis is away or refused a command. Never rejects. */
  async attempt<Result>(work: (redis: RedisCommands) => Promise<Result>): Promise<Result | undefined> {
    if (!this.commands) return undefined;
    try {
      return await work(this.commands);
    } catch (error) {
      if (!(error instanceof RedisAway)) this.complain(error);
      return undefined;
    }
  }

  /**
   * For how many milliseconds Redis has been there without a break; infinite since this process began. A Redis that was
   * away, or whose connection was lost, may be back with an older state.
   */
  get unbrokenMs(): number {
    return this.state === 'ok' ? performance.now() - this.returnedAt : 0;
  }

  /** Whether Redis takes a write. */
  async ping(): Promise<boolean> {
    return (await this.attempt((redis) => takesWrite(redis, ANY_KEY))) !== undefined;
  }

  onApplicationShutdown(): void {
    this.breaker.end();
    this.client?.disconnect();
  }

  private watch(client: Redis | Cluster): void {
    for (const event of ['error', 'node error', 'sentinelError']) {
      client.on(event, (error: unknown) => {
        if (tellsWhy(error)) this.fault = error;
        // By itself the client would go on with the first database.
        if (refusesDatabase(error)) client.disconnect(true);
      });
    }
    if (client instanceof Cluster) client.on('+node', (node: Redis) => this.watchConnection(node));
    else this.watchConnection(client);
  }

  /** A first connection is no return; any later one is. */
  private watchConnection(node: Redis): void {
    let wasLost = false;
    node.on('close', () => {
      wasLost = true;
      this.returned();
    });
    node.on('ready', () => {
      if (wasLost) this.returned();
    });
  }

  private returned(): void {
    this.returnedAt = performance.now();
  }

  private async connect(client: Redis | Cluster): Promise<void> {
    await client.connect();
    if (client instanceof Cluster) await Promise.allSettled(client.nodes('master').map((node) => node.ping()));
    await this.probe(ANY_KEY);
  }

  private async probe(key: string): Promise<void> {
    const { client } = this;
    if (client) await sendNow(client, () => takesWrite(client, key));
  }

  /** The connections may lead to a machine that is gone, or to a node that has lost its place. */
  private reconnect(): void {
    if (this.client?.status === 'ready') this.client.disconnect(true);
  }

  /** What is wrong with a command and not with Redis. */
  private complain(error: unknown): void {
    const reason = reasonOf(error);
    const now = performance.now();
    if (now - (this.complaints.get(reason) ?? -Infinity) < COMPLAINT_EVERY_MS) return;
    this.complaints.set(reason, now);
    this.logger.error(`A command to Redis failed, and was done without: ${reason}`);
  }
}

/** A mere PING would be answered also by a server that refuses everything else. */
const takesWrite = (redis: Pick<RedisCommands, 'set'>, key: string): Promise<unknown> =>
  redis.set(`${key}:ping`, '', 'PX', 1_000, 'NX');
