import { Readable } from 'node:stream';
import type { InputLine } from '../domain/import-files.port';
import { csvLine, csvLines } from './csv-lines';

const PRINTER = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Café 🖨' };
const ROW = 'CUSTOM,c-1,Café 🖨';

async function wholeLinesOf(...chunks: (string | Buffer)[]): Promise<InputLine[]> {
  const lines: InputLine[] = [];
  const content = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  for await (const together of csvLines(content, 0)) lines.push(...together);
  return lines;
}

/** Without the kept text. */
async function linesOf(...chunks: (string | Buffer)[]): Promise<InputLine[]> {
  const lines = await wholeLinesOf(...chunks);
  return lines.map((line) => {
    const rest: { -readonly [Name in keyof InputLine]: InputLine[Name] } = { ...line };
    delete rest.bytes;
    delete rest.header;
    return rest as InputLine;
  });
}

const chunksOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) => bytes.subarray(nth * size, (nth + 1) * size));

describe('csvLines', () => {
  it('reads rows after a header, in chunks of any size', async () => {
    const text = `"categoryKey",externalId,name\r\n${ROW}\r\n`;
    expect(await linesOf(text)).toMatchObject([{ line: 2, value: PRINTER }]);
    expect(await linesOf(...chunksOf(Buffer.from(text), 1))).toMatchObject([{ line: 2, value: PRINTER }]);
  });

  it.each([',', ';', '\t'])('is told by the header that %j separates columns', async (separator) => {
    const header = ['categoryKey', 'externalId', '"name"', 'description'].join(separator);
    const text = `${header}\r\n${['CUSTOM', 'c-1', '"6;5,4\t3"', '2026'].join(separator)}\r\n`;
    const expected = { categoryKey: 'CUSTOM', externalId: 'c-1', name: '6;5,4\t3', description: '2026' };
    for (const size of [1, 7, 1_000]) {
      const lines = await wholeLinesOf(...chunksOf(Buffer.from(text), size));
      expect(lines).toMatchObject([{ line: 2, value: expected }]);
      expect(csvLine(lines[0]?.header ?? '', lines[0]?.bytes ?? Buffer.alloc(0))).toEqual({ value: expected });
    }
  });

  it('reads booleans as spreadsheets and databases write them, and only where booleans belong', async () => {
    const truths = ['true', 'TRUE', 'Yes', 't', '1'];
    const lies = ['false', 'False', 'no', 'F', '0'];
    const text = [
      'categoryKey,externalId,name,managed',
      ...[...truths, ...lies, 'y'].map((cell) => `COMPUTER,1,t,${cell}`),
    ];
    const lines = await linesOf(text.join('\n'));
    const values = lines.map((line) => ('value' in line ? line.value : line)) as { managed: unknown; name: unknown }[];
    expect(values.map(({ managed }) => managed)).toEqual([...truths.map(() => true), ...lies.map(() => false), 'y']);
    expect(values[0]).toMatchObject({ externalId: '1', name: 't' });
  });

  it('leaves tags that are no JSON to the record, which is then known by its id', async () => {
    const lines = await linesOf('categoryKey,externalId,name,tags\nCUSTOM,c-1,x,env\n');
    expect(lines).toMatchObject([{ value: { externalId: 'c-1', tags: 'env' } }]);
  });

  it('refuses a long line without an end at once', async () => {
    expect(await linesOf('x'.repeat(400_000))).toMatchObject([{ fault: expect.any(String) as string }]);
  });

  it('skips rows whose cells are all empty, however many', async () => {
    const lines = await linesOf(`categoryKey,externalId,name,\n,,,\n${ROW},\n,,,,,,\n"","",,\n`);
    expect(lines).toEqual([{ fileIndex: 0, line: 3, value: PRINTER }]);
  });

  it('refuses a row that is not UTF-8, as spreadsheets write, and reads the next one', async () => {
    const latin1 = Buffer.from('CUSTOM,c-2,Café\n', 'latin1');
    expect(await linesOf('categoryKey,externalId,name\n', latin1, ROW)).toMatchObject([
      { line: 2, fault: 'The row is not UTF-8.' },
      { line: 3, value: PRINTER },
    ]);
  });

  it.each([
    ['CUSTOM,c-1,x\nCUSTOM,c-2,y\n', 'The header has no column categoryKey; columns are named in the first line.'],
    ['CUSTOM,c-1,x\n', 'The header has no column categoryKey; columns are named in the first line.'],
    [
      'categoryKey|externalId|name\nCUSTOM|c-1|x\n',
      'The header has one column: a comma, a semicolon or a tab separates columns.',
    ],
    ['categoryKey,name\nCUSTOM,x\n', 'The header has no column externalId; columns are named in the first line.'],
    ['categoryKey,externalId,name,name\nCUSTOM,c-1,x,y\n', 'Columns 3 and 4 of the header have the same name.'],
    ['categoryKey,"externalId"s,name\nCUSTOM,c-1,x\nCUSTOM,c-2,y\n', 'The header is not CSV.'],
    ['categoryKey,externalId,"name\nCUSTOM,c-1,x\n', 'The header is not CSV.'],
    [
      `categoryKey,externalId,name,x${'.y'.repeat(100_000)}\nCUSTOM,c-1,x,1\n`,
      'Column 4 of the header is deeper than any member.',
    ],
    ['categoryKey,externalId,name,tags.0.key.x\nCUSTOM,c-1,x,1\n', 'Column 4 of the header is deeper than any member.'],
    // A row of values, which the record of the import must not keep.
    ['Ada,ada@example.com,ada@example.com\n', 'Columns 2 and 3 of the header have the same name.'],
    [Buffer.from('\ufeffcategoryKey,externalId,name\n', 'utf16le'), 'The header is not UTF-8.'],
  ])('reads nothing after an ambiguous header: %p', async (content, fault) => {
    const lines = await linesOf(content);
    expect(lines).toMatchObject([{ line: 1, fault }]);
  });

  it('reads a header of very many columns quickly', async () => {
    const columns = Array.from({ length: 130_000 }, (_, index) => `x${index}`).join();
    const started = process.cpuUsage().user;
    expect(await linesOf(`categoryKey,externalId,name,${columns}\nCUSTOM,c-1,x`)).toMatchObject([{ line: 2 }]);
    expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(3);
  });

  it.each([
    ['tags,tags.length', '[],abc'],
    ['tags,tags.__proto__.x', '[],y'],
    ['tags,tags.0.key', '"[{""key"":""a""}]",b'],
    ['tags.0.key,tags', 'b,"[{""key"":""a""}]"'],
    ['compliance,compliance.agentVersion', 'old,1.2'],
    ['compliance.agentVersion,compliance', '1.2,old'],
  ])('refuses a row that gives a member and a part of it: %s', async (columns, cells) => {
    const csv = `categoryKey,externalId,name,${columns}\nCOMPUTER,a,n,${cells}\nCOMPUTER,b,n,,\n`;

    const lines = await linesOf(csv);

    expect(lines).toMatchObject([
      { line: 2, fault: 'Column 5 of the row and one before it give the same member.' },
      { line: 3, value: { externalId: 'b' } },
    ]);
  });

  it('keeps a column with a forbidden name, so that its record is refused', async () => {
    const [line] = await linesOf('categoryKey,externalId,name,__proto__.x\nCUSTOM,c-1,x,1\n');
    expect(Object.keys((line as { value: object }).value)).toContain('__proto__');
  });

  it('returns rows in file order', async () => {
    const lines = await linesOf(`categoryKey,externalId,name\n${ROW}\nCUSTOM,c-2\n${ROW}\n`);
    expect(lines.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect((lines[1] as { fault: string }).fault).toContain('The row is not CSV: ');
  });

  describe('an unreadable row', () => {
    const HEADER = 'categoryKey,externalId,name\n';
    const faultsOf = async (...chunks: (string | Buffer)[]) =>
      (await linesOf(...chunks)).flatMap((line) => ('fault' in line ? [[line.line, line.fault]] : []));

    it.each([
      ['a cell', 'x'.repeat(1_200_000), ''],
      ['a quoted cell', `"${'x'.repeat(1_200_000)}"`, ''],
      ['a cell of two lines', `"${'x\n'.padStart(1_200_000, 'x')}"`, ' Lines 102 to 103 were taken for it.'],
      ['many cells', 'x,'.repeat(600_000), ''],
    ])('is lost alone when it is longer than 1 MiB by %s', async (_, name, extent) => {
      const row = `${ROW}\n`;
      const bytes = Buffer.from(`${HEADER}${row.repeat(100)}CUSTOM,long,${name}\n${row.repeat(20_000)}`);
      const lines = await linesOf(...chunksOf(bytes, 65_536));
      expect(lines.filter((line) => 'fault' in line)).toEqual([
        { fileIndex: 0, line: 102, fault: `The row is longer than 1048576 bytes.${extent}` },
      ]);
      expect(lines).toHaveLength(20_101);
      expect(lines.at(-1)).toMatchObject({ line: extent === '' ? 20_102 : 20_103, value: PRINTER });
    });

    it.each([1, 100_000])('is reported with the rows that its open quote swallows: %p rows', async (rest) => {
      const lines = await linesOf(HEADER, `${ROW}\n`, 'CUSTOM,c-2,"x\n', `${ROW}\n`.repeat(rest));
      const fault = 'The row is not CSV: a quote of it is never closed. Nothing after line 3 was read.';
      expect(lines).toMatchObject([
        { line: 2, value: PRINTER },
        { line: 3, fault },
      ]);
    });

    it.each([
      ['CUSTOM,"c"1",x', 'a closing quote is followed by something else than a separator.'],
      [
        'CUSTOM,"c"1,"x"y,z',
        'a closing quote is followed by something else than a separator. Nothing after line 2 was read.',
      ],
      ['CUSTOM,c"1",x,y', 'a quote stands in a cell that does not begin with one.'],
      [
        'CUSTOM,c-1,"x"y\n\nz"',
        'a closing quote is followed by something else than a separator. Lines 2 to 4 were taken for it.',
      ],
      ['CUSTOM,c-1', 'it has 2 cells, and the header has 3.'],
      ['CUSTOM,c-1,x,', 'it has 4 cells, and the header has 3.'],
    ])('is reported once with its first line: %j', async (row, fault) => {
      expect(await faultsOf(HEADER, `${row}\n`, ROW)).toEqual([[2, `The row is not CSV: ${fault}`]]);
    });
  });

  describe('line ends', () => {
    const ENDS = ['\n', '\r\n', '\r'];
    const mixes = ENDS.flatMap((one) => ENDS.flatMap((two) => ENDS.map((three) => [one, two, three] as const)));

    it.each(mixes)('may be %j, %j and %j in one file, and are not part of a cell', async (...ends) => {
      const text = `categoryKey,externalId,name${ends[0]}${ROW}${ends[1]}CUSTOM,c-2,"a\r\nb"${ends[2]}${ROW}`;
      const expected = [
        { fileIndex: 0, line: 2, value: PRINTER },
        { fileIndex: 0, line: 3, value: { categoryKey: 'CUSTOM', externalId: 'c-2', name: 'a\r\nb' } },
        { fileIndex: 0, line: 5, value: PRINTER },
      ];
      expect(await linesOf(text)).toEqual(expected);
      expect(await linesOf(...chunksOf(Buffer.from(text), 1))).toEqual(expected);
    });

    it('may form empty lines, which are skipped and counted', async () => {
      const text = `\r\n\ncategoryKey,externalId,name\r\n\r\n${ROW}\n\n\n${ROW}\r\r\r\n`;
      for (const lines of [await linesOf(text), await linesOf(...chunksOf(Buffer.from(text), 1))]) {
        expect(lines).toMatchObject([
          { line: 5, value: PRINTER },
          { line: 8, value: PRINTER },
        ]);
      }
    });
  });

  it('reads quotes, commas and line ends within quotes, in chunks of any size', async () => {
    const rows = ['CUSTOM,"","say ""hi"", 6"""', '"CUSTOM",c-2,""""', ',c-3,"\n\r,"'];
    const bytes = Buffer.from(['categoryKey,externalId,name', ...rows].join('\n'));
    for (const size of [1, 2, 3, 1_000]) {
      expect(await linesOf(...chunksOf(bytes, size))).toEqual([
        { fileIndex: 0, line: 2, value: { categoryKey: 'CUSTOM', name: 'say "hi", 6"' } },
        { fileIndex: 0, line: 3, value: { categoryKey: 'CUSTOM', externalId: 'c-2', name: '"' } },
        { fileIndex: 0, line: 4, value: { externalId: 'c-3', name: '\n\r,' } },
      ]);
    }
  });

  it('returns every row as written in the file, with the header, in chunks of any size', async () => {
    const header = 'categoryKey,"externalId",name';
    const rows = ['CUSTOM,c-1,Café', 'CUSTOM,c-2,"a\r\nb"', 'CUSTOM,c"3,x', 'CUSTOM,c-4', 'CUSTOM,c-5,"open\nx,y\n'];
    const bytes = Buffer.from([header, ...rows].join('\r\n'));
    for (const size of [1, 7, 1_000]) {
      const lines = await wholeLinesOf(...chunksOf(bytes, size));
      expect(lines.map(({ bytes: row }) => row?.toString())).toEqual(rows);
      expect(new Set(lines.map((line) => line.header))).toEqual(new Set([header]));
    }
  });

  it('fails when its file fails, and never ends early', async () => {
    const content = new Readable({ read: () => undefined });
    content.push('categoryKey,externalId,name\n');
    setImmediate(() => content.destroy(new Error('The disk is gone.')));
    await expect(async () => {
      for await (const lines of csvLines(content, 0)) expect(lines).toEqual([]);
    }).rejects.toThrow('The disk is gone.');
  });

  it('finds no line in an empty file', async () => {
    expect(await linesOf('')).toEqual([]);
  });
});
