import { banner } from './banner';

const APPLICATION = { client_id: 'ci_1', client_secret: 'cs_1' };
const linesWith = (console: string): string[] =>
  banner({
    baseUrl: 'http://127.0.0.1:3000',
    origin: 'http://127.0.0.1:3000',
    client: APPLICATION,
    explorer: APPLICATION,
    credentialsFile: '.local/credentials.json',
    console,
  }).split('\n');

describe('The banner of npm start', () => {
  it('shows the address of the console in line with the others, and what its link is', () => {
    const lines = linesWith('http://127.0.0.1:3001/sign-in/link/a');

    const at = lines.indexOf('  Console        http://127.0.0.1:3001/sign-in/link/a');
    expect(lines[at - 1]).toBe('  Guides         http://127.0.0.1:3000/docs/guides');
    expect(lines[at + 1]).toMatch(/^ {17}\(a link works once, .*\)$/);
  });

  it('tells of no link when the console does not run', () => {
    const lines = linesWith('does not run: 127.0.0.1:3001 is taken.');

    expect(lines).toContain('  Console        does not run: 127.0.0.1:3001 is taken.');
    expect(lines.join('\n')).not.toContain('a link works once');
  });
});
