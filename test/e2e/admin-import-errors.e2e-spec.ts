import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runAdminOn } from '../support/admin-command';
import { Fifo } from '../support/fifo';
import { documentOf, expectFault } from '../support/finished-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const ADA = `${JSON.stringify({ categoryKey: 'EMPLOYEE', externalId: 'hr-1', name: 'Ada Okafor' })}\n`;
const EARLIER = '{"line":7,"reason":"name is required."}\n';

describe('admin import --errors FILE', () => {
  let database: TestDatabase;
  let directory: string;
  const run = (...words: string[]) => runAdminOn(database, words);
  const importInto = (workspace: string, ...words: string[]) =>
    run('import', '--workspace', workspace, '--source', 'hr', '--json', ...words);
  const readErrors = (path: string): unknown[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  const file = (name: string, content: string | Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    documentOf(await run('workspaces', 'create', 'acme', '--name', 'Acme', '--json'));
  });
  afterAll(async () => {
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('refuses a file that is also an input, under any name, and changes nothing', async () => {
    const input = file('input.ndjson', ADA);
    expect(documentOf(await importInto('acme', input))).toMatchObject({ created: 1 });
    const alias = join(directory, 'alias.ndjson');
    linkSync(input, alias);
    for (const errors of [input, alias]) {
      const finished = await importInto(
        'acme',
        file('other.ndjson', ADA),
        input,
        '--missing',
        'hide',
        '--errors',
        errors,
      );
      expectFault(finished, 2, /--errors names .*input\.ndjson, which is one of the files that the import reads\./);
      expect(readFileSync(input, 'utf8')).toBe(ADA);
    }
    expect(documentOf(await importInto('acme', input))).toMatchObject({ unchanged: 1 });
  });

  it('refuses the map, and what it extends, and changes neither', async () => {
    const [base, own] = ['record: {externalId: id, name: id}\n', 'extends: base\ncategory: CUSTOM\n'];
    const [basePath, ownPath] = [file('base.yaml', base), file('own.yaml', own)];
    const input = file('items.ndjson', '{"id":1}\nnonsense\n');

    for (const errors of [basePath, ownPath]) {
      const finished = await importInto('acme', input, '--map', ownPath, '--dry-run', '--errors', errors);
      expectFault(finished, 2, /--errors names .*(base|own)\.yaml, which is one of the files that the import reads\./);
    }

    expect([readFileSync(basePath, 'utf8'), readFileSync(ownPath, 'utf8')]).toEqual([base, own]);
  });

  it('refuses a symbolic link, and changes nothing', async () => {
    const [target, link, dangling] = [file('target', EARLIER), join(directory, 'a-link'), join(directory, 'dangling')];
    symlinkSync(target, link);
    symlinkSync(join(directory, 'not-there'), dangling);
    const input = file('linked.ndjson', ADA.replace('hr-1', 'hr-linked'));
    for (const errors of [link, dangling]) {
      const finished = await importInto('acme', input, '--errors', errors);
      expectFault(finished, 2, /--errors names .*(a-link|dangling), which is a symbolic link\. Name the file itself\./);
    }
    expect([readFileSync(target, 'utf8'), existsSync(join(directory, 'not-there'))]).toEqual([EARLIER, false]);
    expect(documentOf(await importInto('acme', input, '--dry-run'))).toMatchObject({ created: 1 });
  });

  it('refuses a pipe, which nobody may read', async () => {
    const pipe = new Fifo();

    const finished = await importInto('acme', file('piped.ndjson', ADA), '--errors', pipe.path);

    pipe.remove();
    expectFault(finished, 2, /--errors names .*pipe, which is a pipe\. Name a file\./);
  });

  it('can be read by its owner only, also when it was there before', async () => {
    const [old, fresh] = [file('old-mode.ndjson', EARLIER), join(directory, 'fresh.ndjson')];
    chmodSync(old, 0o644);
    for (const errors of [old, fresh]) {
      await importInto('acme', file('mode.ndjson', 'nonsense'), '--errors', errors);
      expect(statSync(errors).mode & 0o777).toBe(0o600);
    }
  });

  it('keeps the errors of the last import until a new import has read its input', async () => {
    const errors = file('errors.ndjson', EARLIER);
    const input = file('good.ndjson', ADA);
    expectFault(await importInto('none', input, '--errors', errors), 1, /no workspace "none"/);
    expectFault(await importInto('acme', join(directory, 'gone.ndjson'), '--errors', errors), 1, /does not exist/);
    expect(readFileSync(errors, 'utf8')).toBe(EARLIER);
    const fresh = join(directory, 'never.ndjson');
    expectFault(await importInto('acme', join(directory, 'gone.ndjson'), '--errors', fresh), 1, /does not exist/);
    expect(existsSync(fresh)).toBe(false);
    documentOf(await importInto('acme', input, '--errors', errors));
    expect(readFileSync(errors, 'utf8')).toBe('');
  });

  it('exits before the import starts when the file cannot be written', async () => {
    const input = file('not-yet.ndjson', ADA.replace('hr-1', 'hr-not-yet'));
    const nowhere = join(directory, 'nowhere', 'errors.ndjson');

    const inDirectory = await importInto('acme', input, '--errors', directory);
    const inNowhere = await importInto('acme', input, '--errors', nowhere);

    expectFault(inDirectory, 1, new RegExp(`${directory} is a directory\\.`));
    expectFault(inNowhere, 1, /there is no directory .*nowhere\./);
    expect(documentOf(await importInto('acme', input, '--dry-run'))).toMatchObject({ created: 1 });
  });

  it('imports an unchanged repeated record over the first one', async () => {
    const errors = file('repeats.ndjson', '');
    const input = file(
      'repeated.ndjson',
      ADA.replace('hr-1', 'hr-2') + ADA.replace('hr-1', 'hr-2').replace('Ada', 'Eve'),
    );
    expect((await importInto('acme', input, '--errors', errors)).exitCode).toBe(1);
    expect(readErrors(errors)).toMatchObject([{ line: 2, reason: 'externalId is already on line 1.' }]);

    expect(documentOf(await importInto('acme', errors))).toMatchObject({ read: 1, updated: 1 });
  });

  it('holds only the errors of the last import', async () => {
    const errors = file('old.ndjson', EARLIER.repeat(9));
    const finished = await importInto('acme', file('bad.ndjson', `nonsense\n${ADA}`), '--errors', errors);
    expect(finished.exitCode).toBe(1);
    expect(readErrors(errors)).toEqual([{ line: 1, reason: 'The line is not JSON.', text: 'nonsense' }]);
  });

  it('says that the import is done where its bad lines cannot be written', async () => {
    const finished = await importInto('acme', file('no-space.ndjson', 'nonsense'), '--errors', '/dev/full');

    expectFault(finished, 1, /The import is done, but its bad lines cannot be written to \/dev\/full: ENOSPC/);
  });

  it('stays unchanged when an import is interrupted', async () => {
    const errors = file('kept.ndjson', EARLIER);
    const cutOff = file('cut-off.ndjson.gz', gzipSync(`nonsense\n${ADA}`).subarray(0, -9));
    expectFault(await importInto('acme', cutOff, '--errors', errors), 1, /cannot be unzipped/);
    expect(readFileSync(errors, 'utf8')).toBe(EARLIER);
  });

  it('keeps every kind of bad line unchanged and in input order', async () => {
    const errors = file('all.ndjson', '');
    const unowned = JSON.stringify({
      categoryKey: 'CUSTOM',
      externalId: 'b-1',
      name: 'A\u2028\u0085B',
      owner: 'nobody',
    });
    const latin1 = Buffer.from('{"name":"Café"}\n', 'latin1');
    const one = file('one.ndjson', Buffer.concat([Buffer.from(`${unowned}\n${ADA}`), latin1, Buffer.from(ADA)]));
    const header = 'categoryKey,externalId,name,tags.0.key';
    const two = file('two.csv', `${header}\r\nCUSTOM,b-2,"Two\nlines",none\r\nCUSTOM,b-3\r\nCUSTOM,b-4,Printer,\r\n`);

    const finished = await importInto('acme', one, two, '--strict', '--errors', errors);

    expect(finished.exitCode).toBe(1);
    expect(readErrors(errors)).toEqual([
      { file: one, line: 1, reason: 'owner is not a visible employee of this source.', text: unowned },
      { file: one, line: 3, reason: 'The line is not UTF-8.', base64: latin1.subarray(0, -1).toString('base64') },
      { file: one, line: 4, reason: `externalId is already on line 2 of ${basename(one)}.`, text: ADA.trim() },
      {
        ...{ file: two, line: 2, header, text: 'CUSTOM,b-2,"Two\nlines",none' },
        reason: 'tags: the key "none" does not exist in the workspace.',
      },
      {
        file: two,
        line: 4,
        reason: 'The row is not CSV: it has 2 cells, and the header has 4.',
        header,
        text: 'CUSTOM,b-3',
      },
    ]);
    expect(JSON.parse(finished.stdout)).toMatchObject({ read: 7, created: 1, unchanged: 1, failed: 5 });
    expect(readFileSync(errors, 'utf8').split(/[\n\u0085\u2028]/)).toHaveLength(6);
  });

  it('can be imported once corrected, and then holds the lines that are still bad', async () => {
    const errors = file('mend.ndjson', '');
    const csv = file(
      'mend.csv',
      'categoryKey,externalId,name,managed\nCOMPUTER,m-1,laptop,maybe\nCOMPUTER,m-2,laptop,true\n',
    );
    const ndjson = file('to-mend.ndjson', '{"categoryKey":"CUSTOM","externalId":"m-3"}\n{"externalId":"m-4",\n');
    expect((await importInto('acme', csv, ndjson, '--errors', errors)).exitCode).toBe(1);
    const mended = file(
      'mended.ndjson',
      readFileSync(errors, 'utf8')
        .replace('maybe', 'false')
        .replace(String.raw`\"m-3\"`, String.raw`\"m-3\",\"name\":\"Badge\"`),
    );

    const finished = await importInto('acme', mended, '--missing', 'hide', '--errors', errors);

    expect(JSON.parse(finished.stdout)).toMatchObject({ read: 3, created: 2, hidden: 0, failed: 1 });
    expect(readErrors(errors)).toEqual([{ line: 3, reason: 'The line is not JSON.', text: '{"externalId":"m-4",' }]);
  });

  it('can be corrected as docs/imports.md describes', async () => {
    const page = readFileSync(join(__dirname, '../../docs/imports.md'), 'utf8');
    const section = page.slice(page.indexOf('### Mend bad lines'));
    const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(section)?.[1] ?? '';
    const commands = [...section.matchAll(/admin -- import --workspace acme (.*)/g)].slice(0, 2).map(([, words]) => {
      return (words ?? '').split(' ').map((word) => (word.includes('.') ? join(directory, word) : word));
    });
    const [computers, badLines] = [file('computers.csv', block('csv')), join(directory, 'bad-lines.ndjson')];
    const importAs = async (words: readonly string[] = []) =>
      JSON.parse((await run('import', '--workspace', 'acme', '--json', ...words)).stdout) as unknown;

    expect(await importAs(commands[0])).toMatchObject({ read: 2, created: 1, failed: 1 });
    expect(readFileSync(badLines, 'utf8')).toBe(block('ndjson'));

    file('bad-lines.ndjson', readFileSync(badLines, 'utf8').replace('maybe', 'true'));
    expect(await importAs(commands[1])).toMatchObject({ read: 1, created: 1, failed: 0 });
    expect(readFileSync(join(directory, 'still-bad.ndjson'), 'utf8')).toBe('');
    expect(await importAs(['--source', 'mdm', computers])).toMatchObject({ unchanged: 1, failed: 1 });
  });

  it.each([
    ['a line of bytes that are no text', { base64: Buffer.from([0xff]).toString('base64') }, 'The line is not UTF-8.'],
    ['an empty line', { text: ' ' }, 'The line is empty.'],
    [
      'two rows',
      { header: 'categoryKey,externalId,name', text: 'CUSTOM,a,b\nCUSTOM,c,d' },
      'The text is not one row of CSV.',
    ],
    [
      'a header that is none',
      { header: 'x', text: 'CUSTOM,a,b' },
      'The header has one column: a comma, a semicolon or a tab separates columns.',
    ],
  ])('keeps %s, which fails again when imported', async (_, kept, reason) => {
    const errors = file('again.ndjson', '');
    const input = file('kept-line.ndjson', JSON.stringify({ line: 7, reason: 'Bad.', ...kept }));
    expect((await importInto('acme', input, '--errors', errors)).exitCode).toBe(1);
    expect(readErrors(errors)).toEqual([{ line: 1, reason, ...kept }]);
  });
});
