import { applicationId, workspaceId } from '#libs/kernel';
import type { Database } from '../database/database';
import { Idempotency } from './idempotency';
import { IdempotencyConflict, IdempotencyInProgress } from './idempotency-errors';
import type { IdempotencyRecords } from './idempotency-records';
import { KeyTaken } from './key-claim';
import type { KeyLease } from './key-lease';

const REQUEST = {
  workspaceId: workspaceId('00000000-0000-4000-8000-000000000001'),
  applicationId: applicationId('00000000-0000-4000-8000-000000000002'),
  keyHash: 'aa',
  fingerprint: 'bb',
};
const ANSWER = { status: 200, body: '{}', entityTag: null };

describe('What becomes of writes by key', () => {
  /** The outcomes counted after one request, whose claim of the key ends like this. */
  const countedAfter = async (claimed: () => Promise<void>, work = () => Promise.resolve(ANSWER)) => {
    const unitOfWork = (_: unknown, unit: () => Promise<unknown>) => claimed().then(unit);
    const database = { unitOfWork } as unknown as Database;
    const records = { insert: async () => undefined } as unknown as IdempotencyRecords;
    const idempotency = new Idempotency(database, records, {} as KeyLease);
    await idempotency.answer(REQUEST, work).catch(() => undefined);
    return Object.fromEntries([...idempotency.outcomes.entries()].filter(([, count]) => count > 0));
  };
  const refuse = (error: Error) => () => Promise.reject(error);

  it('is counted by its outcome', async () => {
    expect(await countedAfter(async () => undefined)).toEqual({ first: 1 });
    expect(await countedAfter(refuse(new KeyTaken(ANSWER)))).toEqual({ replay: 1 });
    expect(await countedAfter(refuse(new IdempotencyConflict()))).toEqual({ conflict: 1 });
    expect(await countedAfter(refuse(new IdempotencyInProgress()))).toEqual({ in_progress: 1 });
  });

  it('is not counted when the work itself failed: the key is as if it had never come', async () => {
    const failing = () => Promise.reject(new Error('not valid'));
    expect(await countedAfter(async () => undefined, failing)).toEqual({});
  });
});
