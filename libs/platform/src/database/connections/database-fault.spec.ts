import { databaseIsUnavailable } from './database-fault';

const refusal = (code: string): Error => Object.assign(new Error('refused'), { code });

describe('A failed Postgres request', () => {
  it.each([
    ['the role may not log in', '28000'],
    ['its password is another one by now', '28P01'],
    ['the database is not there yet', '3D000'],
    ['there are too many connections', '53300'],
    ['it is starting or stopping', '57P03'],
    ['it is read-only', '25006'],
  ])('may be repeated when %s', (_why, code) => {
    expect(databaseIsUnavailable(refusal(code))).toBe(true);
  });

  it.each([
    ['a statement is wrong', '42601'],
    ['the role lacks a privilege', '42501'],
    ['a value breaks a rule', '23514'],
  ])('is a server error when %s', (_why, code) => {
    expect(databaseIsUnavailable(refusal(code))).toBe(false);
  });
});
