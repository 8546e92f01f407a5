import { readFileSync } from 'node:fs';
import { KEY_SET_FAULTS, coversSubject, issuerFault, subjectFault } from './trusted-issuer';

it.each(KEY_SET_FAULTS)('docs/use-no-secret.md tells why a key set cannot be had: %s', (fault) => {
  expect(readFileSync('docs/use-no-secret.md', 'utf8')).toContain(`| ${fault}`);
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

  it.each([
    '',
    '*',
    'repo:*',
    'repo:acme*',
    'repo:*/app',
    'repo:acme/*:*',
    'repo:acme/**',
    'spiffe://*',
    '::/*',
    'a:/*',
  ])('may not be %j', (subject) => expect(subjectFault(subject)).not.toBeNull());

  it.each(['system:serviceaccount:*', 'a\u0000b', 'x'.repeat(1_001)])('may not be %j either', (subject) =>
    expect(subjectFault(subject)).not.toBeNull(),
  );

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
    for (const other of [
      `${base}/`,
      'https://API.example.com:443',
      'http://127.0.0.1',
      'https://a@b.example',
      'https://b.example?',
      'https://b.example#',
      'https://b.example/ключ',
      `https://b.example/${'x'.repeat(1_000)}`,
      'x',
      '',
    ]) {
      expect([other, issuerFault(other, base, false)]).toEqual([other, expect.any(String)]);
    }
  });
});
