import { applicationId, workspaceId } from '#libs/kernel';
import type { Database } from '../database/database';
import { Idempotency } from './idempotency';
import { IdempotencyConflict, IdempotencyInProgress } from './idempotency-errors';
import type { IdempotencyRecords } from './records/idempotency-records';
import { KeyTaken } from './key-claim';

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
    const idempotency = new Idempotency(database, records);
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
    const idempotency = new Idempotency(database, records);
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
