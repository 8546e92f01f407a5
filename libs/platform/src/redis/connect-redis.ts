import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { gatherCommands } from './redis-commands';
import type { RedisAddress, RedisCredentials } from '../config/redis-address';

type Address<Kind extends RedisAddress['kind']> = Extract<RedisAddress, { kind: Kind }>;

/** Delay before a lost connection is opened again, without a limit of attempts. */
const retryDelay = (attempt: number): number => Math.min(attempt * 100, 1_000);
const ignore = (): undefined => undefined;

/** Creates a client that connects on demand. ioredis rediscovers nodes, primaries and slots. */
export function redisAt(address: RedisAddress): Redis | Cluster {
  if (address.kind === 'cluster') return aCluster(address);
  const client = new Redis({
    ...connectionOptions(address.tls, address.credentials),
    ...(address.kind === 'node' ? address.node : sentinelOptions(address)),
    db: address.database,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retryDelay,
  });
  gatherCommands(client);
  return client;
}

function aCluster({ nodes, tls, credentials }: Address<'cluster'>): Cluster {
  const client = new Cluster(
    nodes.map((node) => ({ ...node })),
    {
      lazyConnect: true,
      maxRedirections: 4,
      // Any delay would exceed the wait of a command. When a node is gone, the others report the owner of its slots at
      // the next try.
      ...{ retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, retryDelayOnTryAgain: 10 },
      slotsRefreshTimeout: 500,
      clusterRetryStrategy: retryDelay,
      // Keeps host names unresolved. Certificates are for names, and one unresolvable name must not hide the other
      // nodes.
      dnsLookup: (host, callback) => callback(null, host),
      redisOptions: connectionOptions(tls, credentials),
    },
  );
  client.on('+node', (node: Redis) => {
    gatherCommands(node);
    // The client does not await ASKING. An unhandled failure would end the process.
    const asking = node.asking.bind(node);
    Object.assign(node, { asking: () => asking().catch(ignore) });
    // Connects now, so that the first command to a node does not wait.
    if (!node.options.readOnly) node.connect().catch(ignore);
  });
  return client;
}

function connectionOptions(tls: boolean, { user, password }: RedisCredentials): RedisOptions {
  return {
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    ...(tls && { tls: {} }),
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 2_000,
    disconnectTimeout: 100,
    // For the commands of a new connection only. The circuit breaker limits all others.
    commandTimeout: 1_000,
    disableClientInfo: true,
  };
}

function sentinelOptions(address: Address<'sentinel'>): RedisOptions {
  const { user, password } = address.sentinelCredentials;
  return {
    sentinels: address.sentinels.map((sentinel) => ({ ...sentinel })),
    name: address.primary,
    ...(user !== null && { sentinelUsername: user }),
    ...(password !== null && { sentinelPassword: password }),
    sentinelCommandTimeout: 500,
    sentinelRetryStrategy: retryDelay,
    ...(address.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}
