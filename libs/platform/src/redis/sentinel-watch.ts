import { Redis } from 'ioredis';
import type { RedisAddress, RedisHost } from './redis-address';
import { accessOptions, retryDelay } from './redis-connection';

/** Of every sentinel that finds, or is told, that another node is the primary now. */
const SWITCHED = '+switch-master';
const ignore = (): undefined => undefined;

/**
 * Hears from the sentinels when another node becomes the primary. After a failover that was planned the former one goes on
 * answering for some ten seconds, to whoever does not leave it.
 */
export class SentinelWatch {
  private readonly clients: Redis[];

  constructor(
    address: Extract<RedisAddress, { kind: 'sentinel' }>,
    /** Called once for each sentinel that says so. */
    private readonly switched: (primary: RedisHost) => void,
  ) {
    this.clients = address.sentinels.map((sentinel) => this.subscriberTo(sentinel, address));
  }

  /** Those that cannot be reached are tried for as long as the process runs, and missed no more than that. */
  start(): void {
    for (const client of this.clients) client.subscribe(SWITCHED).catch(ignore);
  }

  stop(): void {
    for (const client of this.clients) client.disconnect();
  }

  private subscriberTo(
    sentinel: RedisHost,
    { primary, tls, sentinelCredentials }: Extract<RedisAddress, { kind: 'sentinel' }>,
  ): Redis {
    const client = new Redis({
      ...sentinel,
      ...accessOptions(tls, sentinelCredentials),
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
      connectTimeout: 2_000,
      disconnectTimeout: 100,
      maxRetriesPerRequest: null,
      retryStrategy: retryDelay,
    });
    client.on('error', ignore);
    client.on('message', (_channel, message) => {
      const [name, , , host = '', port] = message.split(' ');
      if (name === primary) this.switched({ host, port: Number(port) });
    });
    return client;
  }
}
