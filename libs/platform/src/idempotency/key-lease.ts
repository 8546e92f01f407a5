import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RedisClient } from '../redis/redis-client';
import type { IdempotentRequest } from './idempotent-answer';

/** Long enough to look for it several times; short, because that of a process that died runs out by itself. */
const LEASE_MS = 3_000;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Settles which of the processes that wait for the same key looks often whether it is free; the others look rarely. Only a
 * help: what comes of a lease that is lost, or that nobody holds, is a little more or less looking.
 */
@Injectable()
export class KeyLease {
  constructor(private readonly redis: RedisClient) {}

  /** Null when another process has the lease. Without Redis everybody has it. */
  async take(request: IdempotentRequest): Promise<(() => void) | null> {
    // The braces let a cluster keep everything of one application together.
    const key = `{${request.applicationId}}:idempotency:${request.keyHash}`;
    const token = randomUUID();
    const taken = await this.redis.attempt((client) => client.set(key, token, 'PX', LEASE_MS, 'NX'));
    if (taken === undefined) return () => undefined;
    // Nobody waits for the release: commands of one connection keep their order, and `attempt` never rejects.
    return taken === 'OK' ? () => void this.redis.attempt((client) => client.eval(RELEASE, 1, key, token)) : null;
  }
}
