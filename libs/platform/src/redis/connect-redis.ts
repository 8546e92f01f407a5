import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { gatherCommands } from './gathered-commands';
import type { RedisAddress, RedisCredentials } from '../config/redis-address';

type Address<Kind extends RedisAddress['kind']> = Extract<RedisAddress, { kind: Kind }>;

/** Lost connections are made again after this long, for as long as the process runs. */
const retryDelay = (attempt: number): number => Math.min(attempt * 100, 1_000);
const ignore = (): undefined => undefined;

/** A client that connects when it is told to. Finding nodes, primaries and slots again is the work of ioredis. */
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
      // A delay would be longer than a command waits. Where a node is gone, the others say at the next try who has its slots.
      ...{ retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, retryDelayOnTryAgain: 10 },
      slotsRefreshTimeout: 500,
      clusterRetryStrategy: retryDelay,
      // Names stay names: a certificate is for one, and one that cannot be resolved must not hide the other nodes.
      dnsLookup: (host, callback) => callback(null, host),
      redisOptions: connectionOptions(tls, credentials),
    },
  );
  client.on('+node', (node: Redis) => {
    gatherCommands(node);
    // The client does not wait for ASKING; were it to fail, nobody would catch that and the process would end.
    const asking = node.asking.bind(node);
    Object.assign(node, { asking: () => asking().catch(ignore) });
    // Now, so that the first command to a node does not wait for its connection.
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
    // For what a new connection asks before it is used; the circuit breaker bounds every other command.
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
