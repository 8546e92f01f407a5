import { Writable } from 'node:stream';
import Table from 'cli-table3';
import { print, printLine, table } from './output';

describe('A table', () => {
  afterEach(() => jest.restoreAllMocks());

  it('keeps the cells of a row side by side', async () => {
    const rows = [
      ['ada', ['read', 'write'], 1],
      [null, '', true],
      ['日本', 'x', ['one']],
    ];

    expect(await table(['name', 'scopes', 'n'], rows)).toBe(
      [
        '┌──────┬────────┬─────┐',
        '│ name │ scopes │ n   │',
        '├──────┼────────┼─────┤',
        '│ ada  │ read   │ 1   │',
        '│      │ write  │     │',
        '│      │        │ yes │',
        '│ 日本 │ x      │ one │',
        '└──────┴────────┴─────┘',
      ].join('\n'),
    );
  });

  it('has its headings alone without a row', async () => {
    expect((await table(['name'], [])).split('\n')).toHaveLength(3);
  });

  it('gives the library few rows at once, because the library compares each row with all before it', async () => {
    const draw = jest.spyOn(Table.prototype, 'toString');

    const drawn = await table(
      ['n', 'text'],
      Array.from({ length: 1_025 }, (_, n) => [n, n === 700 ? ['a long text', 'b'] : 'a']),
    );

    const lines = drawn.split('\n');
    expect(lines).toHaveLength(1_025 + 1 + 4);
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set(['│ 1024 │ a long text │'.length]));
    expect(lines.slice(0, 4).concat(lines.slice(-2))).toEqual([
      '┌──────┬─────────────┐',
      '│ n    │ text        │',
      '├──────┼─────────────┤',
      '│ 0    │ a           │',
      '│ 1024 │ a           │',
      '└──────┴─────────────┘',
    ]);
    for (const { length } of draw.mock.contexts as unknown[][]) expect(length).toBeLessThanOrEqual(50);
  });
});

describe('What a command prints', () => {
  const stdout = Object.getOwnPropertyDescriptor(process, 'stdout') as PropertyDescriptor;
  afterEach(() => Object.defineProperty(process, 'stdout', stdout));
  const failsWith = (code: string): void => {
    const value = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
    Object.defineProperty(process, 'stdout', { value, configurable: true });
  };

  it('fails the command on a full disk: a secret is shown once', async () => {
    failsWith('ENOSPC');
    await expect(print({ json: {}, text: () => 'cs_secret' }, {})).rejects.toThrow('could not be written: ENOSPC');
    failsWith('ENOSPC');
    await expect(printLine({})).rejects.toThrow('could not be written: ENOSPC');
  });

  it('is nothing more once its reader has closed the pipe', async () => {
    failsWith('EPIPE');
    await expect(print({ json: {}, text: () => 'a' }, { json: true })).resolves.toBeUndefined();
    await expect(printLine({})).resolves.toBe(false);
  });
});
