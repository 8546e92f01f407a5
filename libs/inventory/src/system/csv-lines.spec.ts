import { Readable } from 'node:stream';
import type { InputLine } from '../domain/import-files.port';
import { csvLines } from './csv-lines';

const PRINTER = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Café 🖨' };
const ROW = 'CUSTOM,c-1,Café 🖨';

async function linesOf(...chunks: (string | Buffer)[]): Promise<InputLine[]> {
  const lines: InputLine[] = [];
  const content = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  for await (const together of csvLines(content, 0)) lines.push(...together);
  return lines;
}

describe('csvLines', () => {
  it('reads a row after a header, with a byte order mark or without, in chunks of any size', async () => {
    const text = `categoryKey,externalId,name\r\n${ROW}\r\n`;
    expect(await linesOf(text)).toMatchObject([{ line: 2, value: PRINTER }]);
    expect(await linesOf(`\ufeff${text}`)).toMatchObject([{ line: 2, value: PRINTER }]);
    expect(await linesOf(`\ufeff"categoryKey",externalId,name\n${ROW}`)).toMatchObject([{ line: 2, value: PRINTER }]);
    expect(await linesOf(...Array.from(Buffer.from(`\ufeff${text}`), (byte) => Buffer.of(byte)))).toMatchObject([
      { line: 2, value: PRINTER },
    ]);
  });

  it('refuses a row that is not UTF-8, such as a spreadsheet writes, and reads the next one', async () => {
    const latin1 = Buffer.from('CUSTOM,c-2,Café\n', 'latin1');
    expect(await linesOf('categoryKey,externalId,name\n', latin1, ROW)).toMatchObject([
      { line: 2, fault: 'The row is not UTF-8.' },
      { line: 3, value: PRINTER },
    ]);
  });

  it.each([
    ['CUSTOM,c-1,x\nCUSTOM,c-2,y\n', 'The header has no column categoryKey; columns are named in the first line.'],
    ['CUSTOM,c-1,x\n', 'The header has no column categoryKey; columns are named in the first line.'],
    ['categoryKey;externalId;name\nCUSTOM;c-1;x\n', 'The header has no comma: a comma separates the columns.'],
    ['categoryKey,name\nCUSTOM,x\n', 'The header has no column externalId; columns are named in the first line.'],
    ['categoryKey,externalId,name,name\nCUSTOM,c-1,x,y\n', 'The header names the column name more than once.'],
    ['categoryKey,"externalId"s,name\nCUSTOM,c-1,x\nCUSTOM,c-2,y\n', 'The header is not CSV.'],
    ['categoryKey,externalId,"name\nCUSTOM,c-1,x\n', 'The header is not CSV.'],
    [Buffer.from('\ufeffcategoryKey,externalId,name\n', 'utf16le'), 'The header is not UTF-8.'],
  ])('reads nothing by a header that it cannot trust: %p', async (content, fault) => {
    const lines = await linesOf(content);
    expect(lines).toMatchObject([{ line: 1, fault }]);
  });

  it('keeps a column that is named as no member may be, so that its record is refused', async () => {
    const [line] = await linesOf('categoryKey,externalId,name,__proto__.x\nCUSTOM,c-1,x,1\n');
    expect(Object.keys((line as { value: object }).value)).toContain('__proto__');
  });

  it('tells of rows in the order of the file', async () => {
    const lines = await linesOf(`categoryKey,externalId,name\n${ROW}\nCUSTOM,c-2\n${ROW}\n`);
    expect(lines.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect((lines[1] as { fault: string }).fault).toContain('The row is not CSV: ');
  });

  it('fails when its file does, and does not end early', async () => {
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
