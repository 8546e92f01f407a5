import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { Tally } from '../observability/tally';
import { CircuitBreaker, RedisAway } from './circuit-breaker';
import { redisAt } from './connect-redis';
import { parseRedisUrl } from '../config/redis-address';
import { GuardedCommands, type RedisCommands, sendNow } from './redis-commands';
import { reasonOf, refusesDatabase, namesCause } from './redis-fault';

/** Maximum wait for Redis at the start of an instance. */
const FIRST_CONNECTION_MS = 2_000;
/** Minimum time between two log lines about the same refusal. */
const COMPLAINT_EVERY_MS = 60_000;
const ANY_KEY = '{ping}';

export type RedisState = 'not configured' | 'ok' | 'away';

/** Access to a Redis that may be away or absent. Redis is optional: every caller has a fallback. */
export class RedisClient implements OnModuleInit, OnApplicationShutdown {
  /** Outages that began (opened) and ended (closed). */
  readonly transitions = new Tally(['opened', 'closed']);
  private readonly logger = new Logger('Redis');
  private readonly client: Redis | Cluster | null;
  private readonly commands: RedisCommands | null;
  private readonly breaker: CircuitBreaker;
  private readonly complaints = new Map<string, number>();
  /** Time of the last reconnection, by `performance.now()`. */
  private returnedAt = -Infinity;
  /** The last error of a connection. */
  private fault: unknown;

  /** `url` is null without Redis. @throws `RedisUrlInvalid` */
  constructor(url: string | null) {
    this.breaker = new CircuitBreaker(
      {
        opened: (error) => {
          this.transitions.add('opened');
          this.logger.warn({ message: 'Redis is away', reason: reasonOf(error, this.fault) });
        },
        closed: () => {
          this.transitions.add('closed');
          this.fault = undefined;
          this.returned();
          this.logger.warn({ message: 'Redis is back' });
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

  /** State as the last commands found it. Becomes `ok` within two seconds after an outage, even without requests. */
  get state(): RedisState {
    if (!this.client) return 'not configured';
    return this.breaker.isClosed ? 'ok' : 'away';
  }

  /** Waits for the first connection. The instance starts even without Redis. */
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

  /** Returns the result of `work`, or `undefined` when Redis is away or refused a command. Never rejects. */
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
   * Milliseconds of uninterrupted service; infinite since the start. After an outage or a lost connection Redis may
   * have older data.
   */
  get unbrokenMs(): number {
    return this.state === 'ok' ? performance.now() - this.returnedAt : 0;
  }

  /** Tells whether Redis accepts a write. */
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
        if (namesCause(error)) this.fault = error;
        // The client would otherwise continue with the default database.
        if (refusesDatabase(error)) client.disconnect(true);
      });
    }
    if (client instanceof Cluster) client.on('+node', (node: Redis) => this.watchConnection(node));
    else this.watchConnection(client);
  }

  /** The first connection is not a reconnection. */
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
    if (!client) return;
    // The user may lack the right to a command. All are sent at once, because a probe has the time of one reply.
    const script = () => client.eval('return 1', 1, `${key}:ping`);
    const removal = () => client.hdel(`${key}:none`, 'none');
    await sendNow(client, () => Promise.all([takesWrite(client, key), script(), removal()]));
  }

  /** The connections may lead to a dead machine, or to a node that lost its role. */
  private reconnect(): void {
    if (this.client?.status === 'ready') this.client.disconnect(true);
  }

  /** Logs a fault of a command, as opposed to an outage. */
  private complain(error: unknown): void {
    const reason = reasonOf(error);
    const now = performance.now();
    if (now - (this.complaints.get(reason) ?? -Infinity) < COMPLAINT_EVERY_MS) return;
    this.complaints.set(reason, now);
    this.logger.error({ message: 'Redis command failed', reason });
  }
}

/** A server that refuses all other commands may still reply to PING. */
const takesWrite = (redis: Pick<RedisCommands, 'set'>, key: string): Promise<unknown> =>
  redis.set(`${key}:ping`, '', 'PX', 1_000, 'NX');
