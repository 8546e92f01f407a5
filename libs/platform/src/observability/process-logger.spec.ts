import { Writable } from 'node:stream';
import { pino } from 'pino';
import { ProcessLogger } from './process-logger';

describe('The process log', () => {
  const logged = (write: (log: ProcessLogger) => void): string => {
    let text = '';
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        done();
      },
    });
    write(new ProcessLogger(pino({ messageKey: 'message' }, sink)));
    return text;
  };

  it('shows kind, message and place of an error, but no path of the host', () => {
    const error = Object.assign(new Error("ENOENT: no such file, open '/srv/secret/place/key.pem'"), {
      code: 'ENOENT',
    });
    const text = logged((log) => log.error({ requestId: 'r-1', error }));
    expect(JSON.parse(text)).toMatchObject({
      requestId: 'r-1',
      error: {
        name: 'Error',
        message: "ENOENT: no such file, open '…'",
        code: 'ENOENT',
        where: expect.stringMatching(/^libs\/platform\/src\/observability\/process-logger\.spec\.ts:\d+/) as string,
      },
    });
    expect(text).not.toContain(__dirname);
    expect(text).not.toContain('/srv/');
  });

  it('shows the errors behind an error, but follows no circle', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:4000'), { code: 'ECONNREFUSED' });
    const failed: Error = new TypeError('fetch failed', { cause: refused });
    Object.assign(refused, { cause: failed });
    const text = logged((log) => log.error({ error: new Error('The issuer is away.', { cause: failed }) }));
    expect(JSON.parse(text)).toMatchObject({
      error: {
        message: 'The issuer is away.',
        cause: { name: 'TypeError', message: 'fetch failed', cause: { code: 'ECONNREFUSED' } },
      },
    });
  });

  it('omits other members of an error, which may hold row values or credentials', () => {
    const error = Object.assign(new Error('duplicate key'), {
      detail: 'Key (email)=(ada@example.com) already exists.',
    });
    expect(logged((log) => log.error(error, 'Database'))).not.toContain('ada@example.com');
    expect(logged((log) => log.error({ error }))).not.toContain('ada@example.com');
  });
});
