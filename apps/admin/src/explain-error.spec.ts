import { explainError } from './explain-error';

const refusal = (code: string) => Object.assign(new Error(`${code}: open`), { code, path: '/tmp/errors.ndjson' });

describe('explainError', () => {
  it.each(['EACCES', 'EPERM'])('names the file that this user may not open (%s)', async (code) => {
    expect(await explainError(refusal(code))).toEqual({
      exitCode: 1,
      line: '/tmp/errors.ndjson may not be opened by this user.',
    });
  });

  it.each(['42P01', '42703', '42883'])('asks for a migration where the database lacks something (%s)', async (code) => {
    expect((await explainError(Object.assign(new Error('it does not exist'), { code }))).line).toBe(
      'The database is not up to date; run: admin migrate',
    );
  });

  it.each(['40P01', '40001', '23503'])(
    'asks for another run after a conflict that no repeat solved (%s)',
    async (code) => {
      expect(await explainError(Object.assign(new Error('deadlock detected'), { code }))).toEqual({
        exitCode: 1,
        line: 'Other commands or updates were in the way of each attempt. Run the command again.',
      });
    },
  );

  it.each([
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Connection terminated unexpectedly'),
    Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  ])('says that the connection to Postgres was lost (%s)', async (error) => {
    expect((await explainError(error)).line).toBe('The connection to Postgres was lost before the command was done.');
  });
});
