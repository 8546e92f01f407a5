import { RepeatedWork } from '#libs/platform/background';
import { startApp } from '../support/start-app';

const namesOf = (works: readonly unknown[]) => works.map((work) => (work as RepeatedWork).constructor.name).sort();

describe('An instance', () => {
  afterAll(() => jest.restoreAllMocks());

  it('seals, purges, marks empty change sets, looks after the history and at imports, reads its three kinds of keys again and fetches those of trusted issuers, until it stops', async () => {
    const begun = jest.spyOn(RepeatedWork.prototype, 'onApplicationBootstrap');
    const ended = jest.spyOn(RepeatedWork.prototype, 'beforeApplicationShutdown');

    const app = await startApp();

    const works = namesOf(begun.mock.contexts);
    expect(works).toEqual([
      ...['AuditSealer', 'EmptyChangeSets', 'HistoryRetention', 'HistoryWork', 'IdempotencyPurge', 'ImportWatch'],
      ...['KeyRereading', 'KeyRereading', 'KeyRereading', 'TrustedKeyWatch'],
    ]);
    await app.stop();
    expect(namesOf(ended.mock.contexts)).toEqual(works);
  });
});
