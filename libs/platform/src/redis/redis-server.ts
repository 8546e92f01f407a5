import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';

/** How long Redis is left alone after a failure; then one command tries whether it is back. */
const REST_MS = 1_000;

/**
 * Redis as something that may be away at any time, or not be there at all. Every command is answered within 50 ms or counts as failed; after a
 * failure none is sent for a second, so that its absence costs a request next to nothing. What is kept there is only
 * ever a help: whoever asks knows what to do without it.
 */
export class RedisServer implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Redis');
  private readonly client: Redis | null;
  private restUntil = 0;
  private away = false;

  constructor(url: string | null) {
    this.client = url === null ? null : RedisServer.clientOf(url);
  }

  get isConfigured(): boolean {
    return this.client !== null;
  }

  private static clientOf(url: string): Redis {
    const client = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      commandTimeout: 50,
      connectTimeout: 2_000,
      retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    });
    // What goes wrong is seen by the command that fails; without a listener every lost connection would be printed.
    client.on('error', () => undefined);
    return client;
  }

  /** Waits for the first connection, two seconds at most; a Redis that is away does not keep the process from starting. */
  async onModuleInit(): Promise<void> {
    try {
      await this.client?.connect();
    } catch (error) {
      this.failed(error);
    }
  }

  /** The outcome of `work`, or `undefined` when Redis is away. */
  async attempt<Result>(work: (redis: Redis) => Promise<Result>): Promise<Result | undefined> {
    if (!this.client || performance.now() < this.restUntil) return undefined;
    try {
      const result = await work(this.client);
      if (this.away) this.logger.log('Redis answers again.');
      this.away = false;
      return result;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  async ping(): Promise<boolean> {
    return (await this.attempt((redis) => redis.ping())) === 'PONG';
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }

  private failed(error: unknown): void {
    this.restUntil = performance.now() + REST_MS;
    if (!this.away) this.logger.warn(`Redis is away, and is done without: ${(error as Error).message}`);
    this.away = true;
  }
}
