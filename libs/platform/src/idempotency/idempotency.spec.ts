import { applicationId, workspaceId } from '#libs/kernel';
import type { Database } from '../database/database';
import { Idempotency } from './idempotency';
import { IdempotencyConflict, IdempotencyInProgress } from './idempotency-errors';
import type { IdempotencyRecords } from './records/idempotency-records';
import { KeyTaken } from './key-claim';
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
  /** The reads of the record and the outcomes of duplicates that arrived during the first request. */
  const duplicates = async (fingerprints: readonly string[]) => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const database = { unitOfWork: (_: unknown, unit: () => Promise<unknown>) => unit() } as unknown as Database;
    const reads: string[] = [];
    const find = async ({ fingerprint }: typeof REQUEST) => {
      reads.push(fingerprint);
      await Promise.resolve();
      if (fingerprint !== REQUEST.fingerprint) throw new IdempotencyConflict();
      return RESPONSE;
    };
    const records = { insert: async () => undefined, find } as unknown as IdempotencyRecords;
    const idempotency = new Idempotency(database, records, {} as KeyLease);
    const first = idempotency.respond(REQUEST, () => finished.then(() => RESPONSE));
    const others = fingerprints.map((fingerprint) =>
      idempotency
        .respond({ ...REQUEST, fingerprint }, () => Promise.reject(new Error('was done twice')))
        .then(
          ({ replayed }) => `replayed ${replayed}`,
          (error: Error) => error.constructor.name,
        ),
    );
    finish();
    await first;
    return {
      reads,
      outcomes: await Promise.all(others),
      again: () => idempotency.respond(REQUEST, () => finished.then(() => RESPONSE)),
    };
  };

  it('share one read of the response, and so one connection', async () => {
    const { reads, outcomes, again } = await duplicates(Array.from({ length: 40 }, () => 'bb'));
    expect([reads, new Set(outcomes)]).toEqual([['bb'], new Set(['replayed true'])]);
    // A later request reads again, because the record may be gone.
    expect((await again()).replayed).toBe(true);
    expect(reads).toHaveLength(2);
  });

  it('share nothing with another request', async () => {
    const { reads, outcomes } = await duplicates(['bb', 'cc', 'bb', 'cc']);
    expect(reads).toEqual(['bb', 'cc']);
    expect(outcomes).toEqual(['replayed true', 'IdempotencyConflict', 'replayed true', 'IdempotencyConflict']);
  });
});

describe('A read shared by duplicates', () => {
  /** A remembered key. The test decides how and when each read of its record ends. */
  const remembered = async (claimed: () => Promise<void> = async () => undefined) => {
    const ends: { with: (response: typeof RESPONSE | null) => void; lost: () => void }[] = [];
    const find = () =>
      new Promise<typeof RESPONSE | null>((resolve, reject) =>
        ends.push({ with: resolve, lost: () => reject(new Error('lost')) }),
      );
    const records = { insert: async () => undefined, find } as unknown as IdempotencyRecords;
    let claims: () => Promise<void> = async () => undefined;
    const unitOfWork = (_: unknown, unit: () => Promise<unknown>) => claims().then(unit);
    const idempotency = new Idempotency({ unitOfWork } as unknown as Database, records, {} as KeyLease);
    await idempotency.respond(REQUEST, () => Promise.resolve(RESPONSE));
    claims = claimed;
    const send = () =>
      idempotency
        .respond(REQUEST, () => Promise.resolve(RESPONSE))
        .then(
          ({ replayed }) => `replayed ${replayed}`,
          (error: Error) => error.message,
        );
    return { ends, send };
  };

  it("is not reused when it found nothing: a later request gets another instance's response", async () => {
    const { ends, send } = await remembered(() => Promise.reject(new KeyTaken(RESPONSE)));
    const early = send();
    // Another instance responds; the read is older.
    const late = send();
    expect(ends).toHaveLength(1);
    ends[0]?.with(null);
    expect(await Promise.race([early, late])).toBe('replayed true');
    // The key is remembered again.
    expect(ends).toHaveLength(2);
    ends[1]?.with(RESPONSE);
    expect(await Promise.all([early, late])).toEqual(['replayed true', 'replayed true']);
  });

  it('lets one of them do the work when it found nothing', async () => {
    const { ends, send } = await remembered();
    const all = Array.from({ length: 3 }, send);
    ends[0]?.with(null);
    const first = await Promise.race(all);
    expect([first, ends.length]).toEqual(['replayed false', 2]);
    ends[1]?.lost();
    expect((await Promise.all(all)).sort()).toEqual(['lost', 'lost', 'replayed false']);
  });

  it('fails for those who share it, but not for later ones', async () => {
    const { ends, send } = await remembered();
    const [one, other] = [send(), send()];
    ends[0]?.lost();
    expect(await Promise.all([one, other])).toEqual(['lost', 'lost']);
    const later = send();
    expect(ends).toHaveLength(2);
    ends[1]?.with(null);
    expect(await later).toBe('replayed false');
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
