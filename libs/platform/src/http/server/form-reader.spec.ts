import { PassThrough } from 'node:stream';
import type { Request, Response } from 'express';
import { formReader } from './form-reader';

describe('A reader of forms', () => {
  const read = formReader('1kb');
  const aForm = () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '7' };
    return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & Request;
  };
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('waits ten seconds for the whole form, however often a byte comes', async () => {
    const form = aForm();
    const refused = read(form, {} as Response).catch((error: Error) => error.message);

    for (const byte of 'a=1&b=') {
      form.write(byte);
      await jest.advanceTimersByTimeAsync(1_600);
    }
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(400);

    expect(await refused).toBe('The form did not arrive in time.');
  });

  it('keeps no timer after a form that came, or was refused', async () => {
    const [whole, long] = [aForm(), aForm()];
    long.headers['content-length'] = '2000';
    const accepted = read(whole, {} as Response);
    const refused = read(long, {} as Response).catch((error: Error) => error.message);

    whole.end('a=1&b=2');
    long.end('a'.repeat(2_000));
    await accepted;

    expect(await refused).toBe('request entity too large');
    expect({ ...(whole.body as object) }).toEqual({ a: '1', b: '2' });
    expect(jest.getTimerCount()).toBe(0);
  });
});
