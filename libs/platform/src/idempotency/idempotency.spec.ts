import { applicationId, workspaceId } from '#libs/kernel';
import type { Database } from '../database/database';
import { Idempotency } from './idempotency';
import { IdempotencyConflict, IdempotencyInProgress } from './idempotent-request';
import { type IdempotencyRecords, KeyTaken } from './records/idempotency-records';
import type { KeyLease } from './key-lease';

const REQUEST = {
  workspaceId: workspaceId('00000000-0000-4000-8000-000000000001'),
  applicationId: applicationId('00000000-0000-4000-8000-000000000002'),
  keyHash: 'aa',
  fingerprint: 'bb',
};
const RESPONSE = { status: 200, body: '{}', entityTag: null };

describe('The metric of idempotent writes', () => {
  /** The counted outcomes of one request whose claim of the key behaves as given. */
  const countedAfter = async (claimed: () => Promise<void>, work = () => Promise.resolve(RESPONSE)) => {
    const unitOfWork = (_: unknown, unit: () => Promise<unknown>) => claimed().then(unit);
    const database = { unitOfWork } as unknown as Database;
    const records = { insert: async () => undefined } as unknown as IdempotencyRecords;
    const idempotency = new Idempotency(database, records, {} as KeyLease);
    await idempotency.respond(REQUEST, work).catch(() => undefined);
    return Object.fromEntries([...idempotency.outcomes.entries()].filter(([, count]) => count > 0));
  };
  const refuse = (error: Error) => () => Promise.reject(error);

  it('counts each outcome', async () => {
    expect(await countedAfter(async () => undefined)).toEqual({ first: 1 });
    expect(await countedAfter(refuse(new KeyTaken(RESPONSE)))).toEqual({ replay: 1 });
    expect(await countedAfter(refuse(new IdempotencyConflict()))).toEqual({ conflict: 1 });
    expect(await countedAfter(refuse(new IdempotencyInProgress()))).toEqual({ in_progress: 1 });
  });

  it('ignores failed work, whose key stays unused', async () => {
    const failing = () => Promise.reject(new Error('not valid'));
    expect(await countedAfter(async () => undefined, failing)).toEqual({});
  });
});

describe('Concurrent duplicates of one write', () => {
  it('get the response of the first, unless they are another request', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const database = { unitOfWork: (_: unknown, unit: () => Promise<unknown>) => unit() } as unknown as Database;
    const records = { insert: async () => undefined } as unknown as IdempotencyRecords;
    const idempotency = new Idempotency(database, records, {} as KeyLease);
    const first = idempotency.respond(REQUEST, () => finished.then(() => RESPONSE));
    const others = ['bb', 'cc', 'bb', 'cc'].map((fingerprint) =>
      idempotency
        .respond({ ...REQUEST, fingerprint }, () => Promise.reject(new Error('was done twice')))
        .then(
          ({ replayed }) => `replayed ${replayed}`,
          (error: Error) => error.constructor.name,
        ),
    );
    finish();
    expect(await first).toEqual({ response: RESPONSE, replayed: false });
    const [same, other] = ['replayed true', 'IdempotencyConflict'];
    expect(await Promise.all(others)).toEqual([same, other, same, other]);
  });
});

describe('While another instance holds the key, an instance', () => {
  it('polls often with the lease and rarely without it, and releases the lease', async () => {
    const looksUntil = (isOver: () => boolean, lease: (() => void) | null) => {
      const counts = { looks: 0, leasesAsked: 0 };
      const database = {
        unitOfWork: () => {
          counts.looks += 1;
          return Promise.reject(new KeyTaken(isOver() ? RESPONSE : null));
        },
      } as unknown as Database;
      const take = async () => {
        counts.leasesAsked += 1;
        return lease;
      };
      const idempotency = new Idempotency(database, {} as IdempotencyRecords, { take } as unknown as KeyLease);
      const succeeded = idempotency.respond(REQUEST, () => Promise.reject(new Error('was done twice')));
      return succeeded.then(({ replayed }) => ({ ...counts, replayed }));
    };
    const given = jest.fn();
    const until = performance.now() + 1_000;
    const isOver = (): boolean => performance.now() > until;
    const [often, rarely] = await Promise.all([looksUntil(isOver, given), looksUntil(isOver, null)]);
    expect([often.replayed, rarely.replayed]).toEqual([true, true]);
    expect(often.looks).toBeGreaterThan(rarely.looks);
    // An instance without the lease asks again each time, because the holder may have died.
    expect([often.leasesAsked, rarely.leasesAsked]).toEqual([1, rarely.looks - 1]);
    expect(given).toHaveBeenCalledTimes(1);
  });
});
