import { withRedis } from './redis-connection';
import { TemporaryRedis } from './temporary-redis.port';

const DATABASES = Array.from({ length: 16 }, (_, index) => 15 - index);

/** One database of somebody else's Redis. Changes nothing outside of it and leaves the server running. */
export class BorrowedRedis extends TemporaryRedis {
  private constructor(readonly url: string) {
    super();
  }

  /** Uses the database in the URL, or else the last empty one. @throws when the database is not empty */
  static async at(url: string): Promise<BorrowedRedis> {
    const named = /^\/\d+$/.test(new URL(url).pathname);
    for (const candidate of named ? [url] : DATABASES.map((database) => withDatabase(url, database))) {
      const isEmpty = await withRedis(candidate, async (redis) => (await redis.dbsize()) === 0);
      if (isEmpty) return new BorrowedRedis(candidate);
    }
    throw new Error('The Redis of REDIS_URL has no empty database for the tests; name another, or unset REDIS_URL.');
  }

  async flush(): Promise<void> {
    await withRedis(this.url, (redis) => redis.flushdb());
  }

  async end(): Promise<void> {
    throw notOurs('restarted');
  }

  async startAgain(): Promise<void> {
    throw notOurs('restarted');
  }

  async freeze(): Promise<void> {
    throw notOurs('frozen');
  }

  async thaw(): Promise<void> {
    throw notOurs('thawed');
  }

  async stop(): Promise<void> {
    await this.flush();
  }
}

function notOurs(what: string): Error {
  return new Error(`This test needs a Redis that can be ${what}: unset REDIS_URL, and it starts one.`);
}

function withDatabase(url: string, database: number): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}
