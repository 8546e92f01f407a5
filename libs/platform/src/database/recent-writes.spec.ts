import type { RedisServer } from '../redis/redis-server';
import { RecentWrites } from './recent-writes';
import type { Replicas } from './replicas';

describe('What a client may read at least, of replicas of the database', () => {
  const MINUTE_AGO = '60000000';
  const ageAfter = (unbrokenMs: number): number => {
    const redis: Pick<RedisServer, 'isConfigured' | 'unbrokenMs'> = {
      isConfigured: true,
      unbrokenMs: () => unbrokenMs,
    };
    const writes = new RecentWrites(redis as RedisServer, {} as Replicas);
    const freshness = writes.freshness('a client', MINUTE_AGO);
    return performance.now() - Number(freshness);
  };

  it('is what it wrote last, as a Redis says that was there all the time', () => {
    expect(ageAfter(Infinity)).toBeGreaterThanOrEqual(60_000);
    expect(ageAfter(70_000)).toBeGreaterThanOrEqual(60_000);
  });

  it('is what was so when Redis came back: it may have forgotten a later write', () => {
    expect(ageAfter(2_000)).toBeLessThan(3_000);
  });
});
