import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RedisClient } from '../redis/redis-client';
import type { IdempotentRequest } from './idempotent-request';

/** Long enough to poll several times; short, because the lease of a crashed instance must expire soon. */
const LEASE_MS = 3_000;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Picks one of the instances that wait for the same key to poll often; the others poll rarely. Only saves load: a lost
 * or unheld lease merely changes how often instances poll.
 */
@Injectable()
export class KeyLease {
  constructor(private readonly redis: RedisClient) {}

  /** Returns null when another instance has the lease. Without Redis every instance polls often. */
  async take(request: IdempotentRequest): Promise<(() => void) | null> {
    // The braces keep all keys of one application on one node of a cluster.
    const key = `{${request.applicationId}}:idempotency:${request.keyHash}`;
    const token = randomUUID();
    const taken = await this.redis.attempt((client) => client.set(key, token, 'PX', LEASE_MS, 'NX'));
    if (taken === undefined) return () => undefined;
    // Not awaited: commands of one connection keep their order, and `attempt` never rejects.
    return taken === 'OK' ? () => void this.redis.attempt((client) => client.eval(RELEASE, 1, key, token)) : null;
  }
}
