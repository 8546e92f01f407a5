import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { RedisServer } from '../redis/redis-server';
import type { IdempotentRequest } from './idempotent-answer';

/** Long enough for an update that has to wait; short, because that of a process that died is waited out. */
const LEASE_MS = 3_000;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * One process at a time works on a key, so that its duplicates on other replicas wait without a database connection.
 * Only a help: a lease that runs out or is flushed costs a look at the lock in Postgres, which decides.
 */
@Injectable()
export class KeyLease {
  constructor(private readonly redis: RedisServer) {}

  /** Waits for the lease until `deadline` (of `performance.now()`); null when it was not had. Without Redis at once. */
  async take(request: IdempotentRequest, deadline: number): Promise<(() => void) | null> {
    // The braces let a cluster keep everything of one application together.
    const key = `{${request.applicationId}}:idempotency:${request.keyHash}`;
    const token = randomUUID();
    for (;;) {
      const taken = await this.redis.attempt((client) => client.set(key, token, 'PX', LEASE_MS, 'NX'));
      if (taken === undefined) return () => undefined;
      // Nobody waits for the release: commands of one connection keep their order, and `attempt` never rejects.
      if (taken === 'OK') return () => void this.redis.attempt((client) => client.eval(RELEASE, 1, key, token));
      if (performance.now() >= deadline) return null;
      await delay(15 + Math.random() * 30);
    }
  }
}
