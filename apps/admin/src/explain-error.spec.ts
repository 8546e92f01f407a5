import { explainError } from './explain-error';

const refusal = (code: string) => Object.assign(new Error(`${code}: open`), { code, path: '/tmp/errors.ndjson' });

describe('explainError', () => {
  it.each(['EACCES', 'EPERM'])('names the file that this user may not open (%s)', (code) => {
    expect(explainError(refusal(code))).toEqual({
      exitCode: 1,
      line: '/tmp/errors.ndjson may not be opened by this user.',
    });
  });
});
