import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import fileSystem from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { makeFifo } from '../../../../../test/support/fifo';
import { type Format, type InputLine, InputUnreadable } from '../domain/import-files.port';
import { parseImportRecord } from '../domain/import-record';
import type { RecordMap } from '../domain/maps/record-map';
import { csvLines } from './csv-lines';
import { ImportFilesSystem } from './import-files.system';
import { formatOfRecords, opened } from './input-format';
import { MapLibrary } from './maps/map-library.system';
import { ndjsonLines } from './ndjson-lines';
import { plainBytes } from './plain-bytes';

const MEBIBYTE = 1_048_576;
const PRINTER = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Café 🖨' };
const LINES = `${JSON.stringify(PRINTER)}\n${JSON.stringify(PRINTER)}\n`;
const ROWS = `categoryKey,externalId,name\r\nCUSTOM,c-1,Café 🖨\r\nCUSTOM,c-1,Café 🖨\r\n`;
const NEEDS_A_MAP = 'The file is one JSON document, which only a map reads: choose a map (--map).';

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

describe('Files of an import', () => {
  const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  async function read(
    content: string | Buffer,
    name = 'export',
    mostBytes?: number,
    format: Format | null = null,
  ): Promise<InputLine[]> {
    const path = join(directory, name);
    writeFileSync(path, content);
    const lines: InputLine[] = [];
    const options = { map: null, format, ...(mostBytes !== undefined && { mostBytes }) };
    for await (const some of new ImportFilesSystem().read([path], () => undefined, options)) lines.push(...some);
    return lines;
  }
  /** Does something after the first lines. */
  async function readWhile(path: string, map: RecordMap | null, happens: () => void): Promise<void> {
    const lines = new ImportFilesSystem().read([path], () => undefined, { map, format: null });
    const reading = lines[Symbol.asyncIterator]();
    await reading.next();
    happens();
    while (!(await reading.next()).done);
  }
  const valuesOf = async (content: string | Buffer, name?: string): Promise<unknown[]> =>
    (await read(content, name)).map((line) => ('value' in line ? line.value : 'fault' in line ? line.fault : line));

  it('refuses a file that is longer than allowed when it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(MEBIBYTE, 'x'));

    expect(await read(bomb, 'export.gz', MEBIBYTE)).toHaveLength(1);
    await expect(read(bomb, 'export.gz', MEBIBYTE - 1)).rejects.toThrow(InputUnreadable);
  });

  it('know no size of what is no regular file', () => {
    expect(new ImportFilesSystem().sizeOf('/dev/null')).toBeNull();
  });

  it('reads all that is written to a pipe, however late', async () => {
    const path = makeFifo(join(directory, 'pipe'));
    const source = join(directory, 'source');
    writeFileSync(source, LINES.repeat(5_000));
    spawn('sh', ['-c', `sleep 0.2; cat "${source}" > "${path}"`]);

    const lines: InputLine[] = [];
    const options = { map: null, format: null };
    for await (const some of new ImportFilesSystem().read([path], () => undefined, options)) lines.push(...some);

    expect(lines).toHaveLength(10_000);
  });

  it('recognises a file of bad lines whose first one is longer than any other line', async () => {
    const text = JSON.stringify({ ...PRINTER, description: '"'.repeat(300_000) });
    const kept = JSON.stringify({ line: 1, reason: 'It is bad.', text });
    expect(kept.length).toBeGreaterThan(MEBIBYTE);

    expect(await read(`${kept}\n${kept}\n`)).toMatchObject([{ again: true }, { again: true }]);
  });

  it('reads a file of bad lines as one, whatever the format that its lines had', async () => {
    const kept = { line: 3, reason: 'It is bad.', header: 'categoryKey,externalId,name', text: 'CUSTOM,c-1,x' };

    expect(await read(JSON.stringify(kept), 'bad-lines', undefined, 'csv')).toMatchObject([
      { again: true, value: { externalId: 'c-1' } },
    ]);
  });

  it('reads UTF-16 without copying it for each half of a pair', async () => {
    const copies = jest.spyOn(Buffer, 'concat');

    const lines = await read(utf16('\udc00'.repeat(20_000)));
    const { length } = copies.mock.calls;
    copies.mockRestore();

    expect(lines).toMatchObject([{ fault: 'The line is not UTF-8.' }]);
    expect(length).toBeLessThan(100);
  });

  describe.each([
    ['lines', LINES],
    ['rows', ROWS],
    ['rows after empty lines', `\r\n\n${ROWS}`],
  ])('%s', (_, text) => {
    it.each<[string, string | Buffer]>([
      ['UTF-8', text],
      ['UTF-8 with byte order mark', `\ufeff${text}`],
      ['UTF-8 with two byte order marks', `\ufeff\ufeff${text}`],
      ['UTF-16 with two byte order marks', utf16(`\ufeff${text}`)],
      ['UTF-16', utf16(text)],
      ['UTF-16, big endian', utf16(text).swap16()],
      ['gzip', gzipSync(text)],
      ['gzip of UTF-16', gzipSync(utf16(text))],
    ])('are told by their first bytes, in %s', async (...[, content]) => {
      expect(await valuesOf(content)).toEqual([PRINTER, PRINTER]);
      expect(await valuesOf(content, 'export.txt')).toEqual([PRINTER, PRINTER]);
    });
  });

  it.each<[string, string]>([
    ['[{"id":1}]', 'devices.json'],
    // A download that broke off.
    ['[{"id":1,"name":"x"},{"id":2', 'devices.json'],
    ['[\n{"id":1},\n{"id":2}\n]\n', 'devices.json'],
    ['{"value":[{"id":1}]}', 'devices.json'],
    ['{\n  "value": [\n    {"id": 1}\n  ]\n}\n', 'devices.json'],
    ['[\n  {"id": 1},\n  {"id": 2}\n]\n', 'devices.ndjson'],
    [`{"value":[${'{"id":1},'.repeat(200_000)}{}]}`, 'devices.json'],
  ])('that are one JSON document say once that they need a map: %#', async (content, name) => {
    expect(await valuesOf(content, name)).toEqual([NEEDS_A_MAP]);
  });

  it.each([
    ['need a map', `[\n${'{"id":1},\n'.repeat(20_000)}{}]`, 'devices.json'],
    ['nobody reads further', LINES.repeat(20_000), 'export.ndjson'],
  ])('that %s are closed', async (_, content, name) => {
    const opening = jest.spyOn(fileSystem, 'open');
    const path = join(directory, name);
    writeFileSync(path, content);
    const lines = new ImportFilesSystem().read([path], () => undefined, { map: null, format: null });
    const reading = lines[Symbol.asyncIterator]();

    await reading.next().catch(() => undefined);
    await reading.return?.();

    const handle = await (opening.mock.results[0]?.value as ReturnType<typeof fileSystem.open>);
    opening.mockRestore();
    for (let tries = 0; tries < 100 && handle.fd !== -1; tries += 1) await delay(10);
    expect(handle.fd).toBe(-1);
  });

  it.each([
    ['half of a pair', [...Buffer.from('é', 'utf16le'), 0x3d, 0xd8], 'LE'],
    ['half of a pair', [0xd8, 0x3d, 0, 0x61], 'BE'],
  ])('in UTF-16 with %s have a bad row, which is not mended unseen: %j', async (_, bad, order) => {
    const [before, after] = [
      utf16(`categoryKey,externalId,name\n${'CUSTOM,c-0,x'}\nCUSTOM,c-`),
      utf16(`,y\nCUSTOM,c-2,z\n`),
    ];
    if (order === 'BE') [before, after].map((part) => part.swap16());
    const content = Buffer.concat([before, Buffer.from(bad), after.subarray(2)]);

    expect(await valuesOf(content)).toEqual([
      { categoryKey: 'CUSTOM', externalId: 'c-0', name: 'x' },
      'The row is not UTF-8.',
      { categoryKey: 'CUSTOM', externalId: 'c-2', name: 'z' },
    ]);
  });

  it('in UTF-16 that break off within a character have a bad row', async () => {
    expect(await valuesOf(utf16(ROWS.trim()).subarray(0, -1))).toEqual([PRINTER, 'The row is not UTF-8.']);
  });

  it.each<[string, (path: string) => void]>([
    ['cut', (path) => truncateSync(path, 100_000)],
    ['written further', (path) => appendFileSync(path, LINES)],
    ['written again', (path) => writeFileSync(path, LINES.repeat(4_000))],
  ])('that are %s while they are read fail, for the end may not be theirs', async (_, change) => {
    const path = join(directory, 'changing');
    writeFileSync(path, LINES.repeat(4_000));

    await expect(readWhile(path, null, () => change(path))).rejects.toThrow(`${path} changed while it was read.`);
  });

  it('that a map reads fail as well when they change', async () => {
    const path = join(directory, 'changing.json');
    const map = join(directory, 'printers.yaml');
    writeFileSync(path, `{"value":[${Array(8_000).fill(JSON.stringify(PRINTER)).join(',\n')}]}`);
    writeFileSync(map, 'items: value\ncategory: CUSTOM\nrecord:\n  externalId: externalId\n  name: name\n');

    const reading = readWhile(path, new MapLibrary().load(map), () => appendFileSync(path, ' '));

    await expect(reading).rejects.toThrow(`${path} changed while it was read.`);
  });

  it('stay lines when some of them are bad', async () => {
    const bad = 'The line is not JSON.';
    expect(await valuesOf(`{"id":\n${LINES}`, 'a.ndjson')).toEqual([bad, PRINTER, PRINTER]);
    expect(await valuesOf(`{"id":1\n${LINES}`, '-x')).toEqual([bad, PRINTER, PRINTER]);
    expect(await valuesOf('{"id":1', 'x')).toEqual([bad]);
    expect(await valuesOf('curl: (6) no such host')).toEqual([bad]);
  });

  it.each(['export.ndjson', 'export.json', 'export'])(
    'named %s stay lines when the first one has too many levels',
    async (name) => {
      const deep = `{"name":${'['.repeat(1_001)}${']'.repeat(1_001)}}`;
      expect(await valuesOf(`${deep}\n${LINES}`, name)).toEqual([
        'The line has more than 1000 lists and objects within each other.',
        PRINTER,
        PRINTER,
      ]);
    },
  );

  it.each([
    [
      'a spreadsheet',
      utf16(
        'categoryKey\texternalId\tname\tmanaged\tcompliance.screenLockEnabled\tlastCheckedAt\r\nCOMPUTER\tC1\tada-mbp\tTRUE\tFALSE\t2026-11-01 03:00:00+01\r\n\t\t\t\t\t\r\n',
      ),
    ],
    [
      'a spreadsheet with semicolons',
      '\ufeffcategoryKey;externalId;name;managed;compliance.screenLockEnabled;lastCheckedAt;\r\nCOMPUTER;C1;ada-mbp;1;0;2026-11-01T02:00:00Z;\r\n;;;;;;\r\n',
    ],
    [
      'psql',
      'categoryKey,externalId,name,managed,compliance.screenLockEnabled,lastCheckedAt\nCOMPUTER,C1,ada-mbp,t,f,2026-11-01 02:00:00+00\n',
    ],
    [
      'DuckDB',
      '{"categoryKey":"COMPUTER","externalId":"C1","name":"ada-mbp","managed":true,"compliance":{"screenLockEnabled":false},"email":null,"lastCheckedAt":"2026-11-01 02:00:00.000000+00"}\n',
    ],
  ])('are read as %s writes them', async (_, content) => {
    const values = await valuesOf(content);
    expect(values.map(parseImportRecord)).toMatchObject([
      {
        record: {
          externalId: 'C1',
          managed: true,
          compliance: { screenLockEnabled: false },
          lastCheckedAt: new Date('2026-11-01T02:00:00Z'),
        },
      },
    ]);
  });

  it.each([
    ['\n', 8],
    ['{"a":"', 64],
    ['a,b,"', 64],
  ])('that expand without end stay within few megabytes of memory: %j', async (start, mebibytes) => {
    const zipped = createGzip({ level: 1 });
    const filler = Buffer.alloc(MEBIBYTE, start.trim() === '' ? start : ' ');
    Readable.from(
      (function* () {
        yield Buffer.from(start);
        for (let count = 0; count < mebibytes; count += 1) yield filler;
      })(),
    ).pipe(zipped);
    let length = 0;
    const before = process.memoryUsage();
    const { start: found, bytes } = await opened(plainBytes(zipped, true));
    const lines = formatOfRecords('x', found) === 'csv' ? csvLines(bytes, 0) : ndjsonLines(bytes, 0);
    for await (const some of lines) length += some.length;
    const after = process.memoryUsage();
    expect(length).toBeLessThanOrEqual(2);
    expect(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(48 * MEBIBYTE);
  });
});
