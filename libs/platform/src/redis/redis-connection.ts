import type { CommonRedisOptions } from 'ioredis';
import { Continuity } from './continuity';
import type { RedisCredentials } from './redis-address';
import type { RedisClient } from './redis-client';

/** The name of a node that is the only one, or of a whole cluster that cannot be reached. */
export const THE_NODE = '';

/** How Redis is reached. Connections that are lost are made again, for as long as the process runs. */
export abstract class RedisConnection {
  /** Commands fail at once when they cannot be sent; nothing bounds the time until they are answered. */
  abstract readonly client: RedisClient;
  /** Of the connections to each node. */
  readonly continuity = new Continuity();

  /** Resolves when commands can be sent. Later attempts go on by themselves when the first one fails. */
  abstract connect(): Promise<void>;
  abstract disconnect(): void;
  /** The node that has the key, as far as is known. */
  abstract nodeOf(key: string): string;
  /** Whether some key is a node's. What became of others does not matter any more. */
  abstract isNode(node: string): boolean;
  /** A key for every node, made of this name and nothing that is in use. Nodes with next to no slots may be left out. */
  abstract keysOnEachNode(name: string): string[];
  /** Resolves when this node, and no other, has answered for the key as one does that is not away; rejects otherwise. */
  abstract probe(node: string, key: string): Promise<void>;
  /** Ends the connection to a node that does not answer: it may lead to a machine that is gone. Another one is made. */
  abstract giveUp(node: string): void;
  /** What went wrong with a connection last. */
  abstract readonly fault: unknown;
}

/** A mere PING is answered also by a server that refuses all that is asked of it otherwise. */
export const takesWrite = (redis: RedisClient, key: string): Promise<unknown> => redis.set(key, '', 'PX', 1_000, 'NX');

export const retryDelay = (attempt: number): number => Math.min(attempt * 100, 1_000);

type AccessOptions = Pick<CommonRedisOptions, 'username' | 'password'> & { tls?: object };

/** Who connects, and how safely: to a node of Redis or to a sentinel. */
export const accessOptions = (tls: boolean, { user, password }: RedisCredentials): AccessOptions => ({
  ...(user !== null && { username: user }),
  ...(password !== null && { password }),
  ...(tls && { tls: {} }),
});

/** Of every connection to a node of Redis, however it is found. */
export function connectionOptions(tls: boolean, credentials: RedisCredentials): CommonRedisOptions & AccessOptions {
  return {
    ...accessOptions(tls, credentials),
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 2_000,
    // For what a new connection asks before it is used. What requests wait for has a shorter time (see Circuit).
    commandTimeout: 1_000,
    disableClientInfo: true,
  };
}
