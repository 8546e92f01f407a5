import type { ConnectionPool } from './connections/connection-pool';
import type { BoundStatement } from './pipelined-statements';
import { UnitOfWork } from './unit-of-work';

interface Batch {
  readonly query_timeout: number;
  readonly statements: readonly BoundStatement[];
  callback(error: null): void;
}

const statement = (name: string): BoundStatement => ({ name, text: '', values: [] });

describe('A unit of work', () => {
  /** The first batch of a unit of work with this much time left. */
  const firstBatch = async (leftMs: number): Promise<Batch> => {
    const batches: Batch[] = [];
    const query = (batch: Batch): void => {
      batches.push(batch);
      batch.callback(null);
    };
    const pool = { connectUnit: async () => ({ query }) };
    const deadline = performance.now() + leftMs;
    await new UnitOfWork(pool as unknown as ConnectionPool, statement('scope'), deadline).run([statement('work')]);
    return batches[0] as Batch;
  };

  const lockTimeout = ({ statements }: Batch): number =>
    Number.parseInt(statements.find(({ name }) => name.startsWith('set_lock_timeout_'))?.values[0] ?? 'NaN', 10);

  it('waits for Postgres until its deadline, and at least half a second', async () => {
    expect((await firstBatch(20_000)).query_timeout).toBeLessThanOrEqual(20_000);
    expect((await firstBatch(20_000)).query_timeout).toBeGreaterThan(2_000);
    for (const left of [100, 0, -1_000]) {
      const { query_timeout: patience } = await firstBatch(left);
      expect(patience).toBeGreaterThan(100);
      expect(patience).toBeLessThanOrEqual(500);
    }
  });

  it('lets Postgres end a lock wait earlier, so that the error arrives', async () => {
    expect(lockTimeout(await firstBatch(20_000))).toBeNaN();
    expect(lockTimeout(await firstBatch(2_200))).toBeLessThanOrEqual(1_700);
    for (const left of [100, 0, -1_000]) expect(lockTimeout(await firstBatch(left))).toBe(50);
  });

  it('says that its turn did not come, and not that the pool has no connection', async () => {
    const largeUnits = { acquire: () => Promise.reject(new Error('timeout exceeded when trying to connect')) };
    const pool = { largeUnits, connectUnit: async () => ({}) } as unknown as ConnectionPool;
    const unit = new UnitOfWork(pool, statement('scope'), Infinity);

    await expect(unit.run([statement('work')], true)).rejects.toMatchObject({
      code: 'service_unavailable',
      detail: 'Other large updates come first. Try again.',
    });
  });
});
