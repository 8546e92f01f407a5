import { messageOf, redacted } from './redaction';

const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });

describe('Log redaction', () => {
  it.each([
    ['"email":"ada.o+x@mail.example.com"', '"email":"…"'],
    ['cannot reach postgres://api:hunter2@db:5432/c', 'cannot reach postgres://…@db:5432/c'],
    [`the secret cs_${'aB3-_'.repeat(10)} is wrong`, 'the secret … is wrong'],
    ['grüße an jürgen@müller.example', 'grüße an …'],
    [`"o'brien@example.com"`, '"…"'],
    ['postgres://api:p@ss@db:5432/c', 'postgres://…@db:5432/c'],
    ['token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjaSJ9.c2lnbmF0dXJl ended', 'token … ended'],
  ])('turns %s into %s', (line, kept) => expect(redacted(line)).toBe(kept));

  it.each(['\n', '\t', '\u0000', '\u001b', '\\', '"'])('works behind %j and keeps the line valid JSON', (before) => {
    const secrets = ['ada@example.com', `cs_${'aB3-_'.repeat(10)}`, 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjaSJ9.c2ln'];
    for (const secret of secrets) {
      const { message } = JSON.parse(redacted(JSON.stringify({ message: `a${before}${secret}` }))) as {
        message: string;
      };
      expect(message).toMatch(/^a.{1,2}…$/s);
    }
  });

  it.each(['{"route":"/v1/inventory/assets/:id","clientId":"ci_abc","durationMs":1.5}', 'user @ host', 'cs_short'])(
    'keeps all of %s',
    (line) => expect(redacted(line)).toBe(line),
  );

  it.each([
    [
      withCode('invalid input syntax for type uuid: "Ada "the" Okafor"', '22P02'),
      'invalid input syntax for type uuid: "…"',
    ],
    [withCode('duplicate key violates "asset_pkey"', '23505'), 'duplicate key violates "asset_pkey"'],
    [new SyntaxError(`Unexpected token 'h', "hunter2" is not valid JSON`), 'Unexpected token "…" is not valid JSON'],
    [new Error("open '/srv/secret/key.pem'"), "open '…'"],
  ])('covers errors: %s', (error, kept) => expect(messageOf(error)).toBe(kept));

  it('is fast for any client input', () => {
    const since = performance.now();
    redacted(`${'a.'.repeat(50_000)}@${'b-'.repeat(50_000)}`);
    expect(messageOf(new Error('x/'.repeat(100_000))).length).toBeLessThanOrEqual(500);
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});
