import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { FileTokenStore, LOCK_MS, MemoryTokenStore, RedisTokenStore } from '#libs/client';
import { tokenStoreContract } from '../../libs/client/src/token-store.contract';
import { redisOfTheRun } from '../support/redis-of-the-run';

const directory = mkdtempSync(join(tmpdir(), 'compliance-client-'));
afterAll(() => rmSync(directory, { recursive: true }));

const memory = new MemoryTokenStore();
tokenStoreContract('of a process', () => memory);

describe('FileTokenStore', () => {
  const at = join(directory, 'not', 'there', 'yet');
  tokenStoreContract('in a directory', () => new FileTokenStore(at));

  it('takes over the lock of a crashed worker after half a minute', async () => {
    const place = join(directory, 'dead');
    const store = new FileTokenStore(place);
    expect(await store.tryLock('any')).not.toBeNull();
    const [lock] = readdirSync(place) as [string];
    const longAgo = (Date.now() - LOCK_MS - 1_000) / 1000;
    utimesSync(join(place, lock), longAgo, longAgo);
    expect(await store.tryLock('any')).toBeNull();
    expect(await store.tryLock('any')).not.toBeNull();
  });

  it('treats a broken file as empty', async () => {
    const place = join(directory, 'broken');
    const store = new FileTokenStore(place);
    await store.write('any', { accessToken: 'a', usableUntil: 1 });
    writeFileSync(join(place, (readdirSync(place) as [string])[0]), '{"accessToken":');
    expect(await store.read('any')).toBeNull();
  });
});

describe('RedisTokenStore', () => {
  const redis = new Redis(redisOfTheRun(), { lazyConnect: true });
  const prefix = `client-${process.pid}-${Date.now()}:`;
  const open = () => new RedisTokenStore((command, ...rest) => redis.call(command, ...rest), prefix);
  beforeAll(() => redis.connect());
  afterAll(async () => {
    await redis.del(await redis.keys(`${prefix}*`));
    redis.disconnect();
  });
  tokenStoreContract('in Redis', open);

  it('takes over the lock of a crashed worker after half a minute, and keeps tokens only while valid', async () => {
    await open().tryLock('any');
    await open().write('any', { accessToken: 'a', usableUntil: Date.now() + 5_000 });
    const [lock, token] = [await redis.pttl(`${prefix}any:lock`), await redis.pttl(`${prefix}any`)];
    expect(lock).toBeGreaterThan(LOCK_MS - 5_000);
    expect(lock).toBeLessThanOrEqual(LOCK_MS);
    expect(token).toBeGreaterThan(1_000);
    expect(token).toBeLessThanOrEqual(5_000);
  });
});
