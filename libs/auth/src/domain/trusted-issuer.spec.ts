import { readFileSync } from 'node:fs';
import { KEY_SET_FAULTS, KeySetUnavailable, coversSubject, issuerFault, subjectFault } from './trusted-issuer';

const FAULTS = Object.entries(KEY_SET_FAULTS) as [keyof typeof KEY_SET_FAULTS, string][];

it.each(FAULTS)('docs/use-no-secret.md tells why a key set cannot be had: %s', (_, text) => {
  const reasons = readFileSync('docs/use-no-secret.md', 'utf8').matchAll(/^\| (\S[^|]*?) *\|/gm);
  expect([...reasons].map(([, reason]) => reason)).toContain(text);
});

it.each(FAULTS)('A key set that cannot be had says why: %s', (fault, message) => {
  expect(new KeySetUnavailable(fault)).toMatchObject({ name: 'KeySetUnavailable', message });
});

describe('A trusted subject', () => {
  it.each([
    'repo:acme/app:ref:refs/heads/main',
    'repo:acme/*',
    'repo:acme/app:*',
    'project_path:acme/*',
    'system:serviceaccount:ci:*',
    'system:serviceaccount:ci:deployer',
    'spiffe://acme.example/*',
    '104582938475610293847',
  ])('may be %s', (subject) => expect(subjectFault(subject)).toBeNull());

  it.each<[string, string[]]>([
    ['1 to 1000 characters', ['', 'a\u0000b', '\ud800', 'x'.repeat(1_001)]],
    ['only at the end', ['*', 'repo:acme*', 'repo:*/app', 'repo:acme/*:*', 'repo:acme/**']],
    ['at least two segments', ['repo:*', 'spiffe://*', '::/*', 'a:/*']],
    ['a whole cluster', ['system:serviceaccount:*']],
  ])('has %s, unlike %j', (reason, subjects) => {
    const faults = subjects.map((subject) => [subject, subjectFault(subject)]);
    expect(faults).toEqual(subjects.map((subject) => [subject, expect.stringContaining(reason) as string]));
    expect(subjectFault('x'.repeat(1_000))).toBeNull();
  });

  it('covers itself alone, or what begins with it', () => {
    expect(coversSubject('repo:acme/app', 'repo:acme/app')).toBe(true);
    expect(coversSubject('repo:acme/app', 'repo:acme/app-evil')).toBe(false);
    expect(coversSubject('repo:acme/*', 'repo:acme/app:ref:refs/heads/main')).toBe(true);
    expect(coversSubject('repo:acme/*', 'repo:acme-evil/app')).toBe(false);
    expect(coversSubject('repo:acme/*', 'repo:ACME/app')).toBe(false);
  });
});

describe('A trusted issuer', () => {
  const base = 'https://api.example.com';

  it('is an https address that is not this API', () => {
    expect(issuerFault('https://token.actions.githubusercontent.com', base, false)).toBeNull();
    expect(issuerFault('https://sts.windows.net/f8cd/', base, false)).toBeNull();
    expect(issuerFault('http://127.0.0.1:8080', base, true)).toBeNull();
    expect(issuerFault('https://127.0.0.1:8080', base, true)).toBeNull();
    expect(issuerFault('https://api.example.com/v//', `${base}/v`, false)).toContain('is this API');
    expect(issuerFault(`https://b.example/${'x'.repeat(982)}`, base, false)).toBeNull();
    const refused: Readonly<Record<string, readonly string[]>> = {
      'is this API': [base, `${base}/`, `${base}///`, 'https://API.example.com:443'],
      'no user, no query': ['https://a@b.example', 'https://b.example?', 'https://b.example#'],
      'is an https:// address': [
        ...['http://127.0.0.1', ' https://b.example', 'https://b.example/ключ', 'x', ''],
        `https://b.example/${'x'.repeat(983)}`,
      ],
    };
    for (const [reason, issuers] of Object.entries(refused))
      for (const issuer of issuers)
        expect([issuer, issuerFault(issuer, base, false)]).toEqual([issuer, expect.stringContaining(reason) as string]);
  });
});
