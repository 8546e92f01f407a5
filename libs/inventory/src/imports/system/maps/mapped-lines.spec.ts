import type { Format, InputLine } from '../../domain/import-files.port';
import { opened } from '../input-format';
import { plainBytes } from '../plain-bytes';
import { readMapFile } from './map-file';
import { mappedLines } from './mapped-lines';
import { recordMap } from './record-map.system';

const RECORD = 'category: CUSTOM\nrecord:\n  externalId: id\n  name: $firstOf([name, id])';

interface Given {
  readonly items?: string;
  readonly file?: string;
  readonly format?: Format;
  readonly yaml?: string;
  readonly chunk?: number;
}

async function linesOf(content: string | Buffer, given: Given = {}): Promise<InputLine[]> {
  const { items, file = '-', format = null, yaml = RECORD, chunk = 7 } = given;
  const map = recordMap({
    ...{ name: 'm', files: ['m.yaml'] },
    ...readMapFile('m.yaml', items === undefined ? yaml : `${yaml}\nitems: '${items}'`),
  });
  const bytes = Buffer.from(content);
  const chunks = (async function* () {
    for (let at = 0; at < bytes.length; at += chunk) yield await Promise.resolve(bytes.subarray(at, at + chunk));
  })();
  const lines: InputLine[] = [];
  const { start, bytes: all } = await opened(plainBytes(chunks, false));
  for await (const some of mappedLines(all, start, { fileIndex: 0, file, format, map }))
    some.forEach((line) => lines.push(line));
  return lines;
}

async function idsOf(content: string | Buffer, given: Given = {}): Promise<unknown[]> {
  return (await linesOf(content, given)).map((line) => {
    if ('fault' in line) return line.fault;
    if ('leftOut' in line) return 'left out';
    return (line.value as { externalId?: unknown }).externalId;
  });
}

describe('Without items, a map reads', () => {
  it.each<[string, string, Given?]>([
    ['a list', '[{"id":"a"},{"id":"b"}]'],
    ['several lists', '[{"id":"a"}]\n[{"id":"b"}]'],
    ['lines', '{"id":"a"}\n{"id":"b"}\n'],
    ['lines of lists', '[{"id":"a"}]\n[{"id":"b"}]\n', { file: 'x.ndjson' }],
    ['lines after a byte order mark and blank lines', '\ufeff\n {"id":"a"}\n\n{"id":"b"}'],
    ['documents of several lines', '{\n"id":"a"}\n{\n"id":"b"\n}'],
    ['a document whose only list holds objects', '{"count":2,"hosts":[{"id":"a"},{"id":"b"}]}'],
    ['rows', 'id,name\na,A\nb,B\n'],
    ['rows by the name of the file', '"id","name"\r\na,A\r\nb,B', { file: 'x.CSV' }],
  ])('%s', async (...[, content, given]) => {
    expect(await idsOf(content, given)).toEqual(['a', 'b']);
  });

  it.each<[string, string, Given?]>([
    ['a document', '{"id":"a"}\n'],
    ['a document with a list of texts', '{"id":"a","groups":["x"]}'],
    ['a document with an empty list', '{"id":"a","groups":[]}'],
    ['a document with two lists', '{"id":"a","b":[{"id":"b"}],"c":[{"id":"c"}]}'],
    ['a line of NDJSON by the name of the file', '{"id":"a","b":[{"id":"b"}]}', { file: 'x.ndjson' }],
    ['a line of NDJSON by the name of a gzipped file', '{"id":"a","b":[{"id":"b"}]}', { file: 'x.jsonl.gz' }],
    ['a line of NDJSON by its format', '{"id":"a","b":[{"id":"b"}]}', { format: 'ndjson' }],
  ])('one record from %s', async (...[, content, given]) => {
    expect(await idsOf(content, given)).toEqual(['a']);
  });

  it.each([
    ['<html>Sign in</html>', 'The file is not JSON: it breaks the rules of JSON. Nothing after this was read.'],
    ['WARNING: old\n[{"id":"a"}]', 'The file is not JSON: it breaks the rules of JSON. Nothing after this was read.'],
    ['"quota exceeded"', 'The item is not an object.'],
  ])('no rows from a file that is named as JSON: %s', async (content, fault) => {
    expect(await idsOf(content, { file: 'x.json.gz' })).toEqual([fault]);
  });

  it('the booleans of rows as an import without a map does, and those of JSON as they are', async () => {
    const yaml = `category: COMPUTER
record:
  externalId: id
  name: id
  managed: managed
  compliance.diskEncryptionEnabled: disk`;
    const computersOf = async (content: string) =>
      (await linesOf(content, { yaml })).map((line) => ('value' in line ? line.value : line));

    const [yes, no, odd] = await computersOf('id,managed,disk\na,Yes,0\nb,f,\nc,maybe,T\n');
    expect(yes).toMatchObject({ managed: true, compliance: { diskEncryptionEnabled: false } });
    expect(no).toMatchObject({ managed: false });
    expect(odd).toMatchObject({ managed: 'maybe', compliance: { diskEncryptionEnabled: true } });
    expect(await computersOf('[{"id":"a","managed":"Yes"}]')).toMatchObject([{ managed: 'Yes' }]);
    const kept = JSON.stringify({ file: 'x.csv', line: 2, reason: '-', header: 'id,managed', text: 'a,yes' });
    expect(await computersOf(kept)).toMatchObject([{ managed: true }]);
  });

  it('nothing from nothing', async () => {
    expect(await idsOf('')).toEqual([]);
    expect(await idsOf(' \n')).toEqual([]);
  });

  it('a bad line of NDJSON as one, and the rest', async () => {
    expect(await idsOf('{"id":"a"}\n{"id":\n{"id":"b"}', { format: 'ndjson' })).toEqual([
      'a',
      'The line is not JSON.',
      'b',
    ]);
  });
});

describe('A path of items', () => {
  it.each([
    ['value', '{"next":null,"value":[{"id":"a"},{"id":"b"}]}'],
    ['value', '{"value":[{"id":"a"}]}\n{"value":[{"id":"b"}]}'],
    ['value', '[{"value":[{"id":"a"}]},{"value":[]},{"value":[{"id":"b"}]}]'],
    ['a.b', '{"a":[{"b":[{"id":"a","b":{"id":"x"}}]},{"c":1,"b":{"id":"b"}}],"b":[{"id":"x"}]}'],
  ])('goes through lists and documents: %s of %s', async (items, content) => {
    expect(await idsOf(content, { items })).toEqual(['a', 'b']);
  });

  it.each([
    ['{"error":"expired"}', []],
    ['{"value":[{"id":"a"}]}{"error":{"value":[{"id":"x"}]}}', ['a']],
    ['[{"value":[{"id":"a"}]},null]', ['a']],
  ])('that a document has not is a fault, for its items would be missing without a word: %s', async (content, ids) => {
    const fault = "The document has no member value, which the map's items name.";
    expect(await idsOf(content, { items: 'value' })).toEqual([...ids, fault]);
  });

  it.each([
    ['a list', '[{"id":"a"},{"id":"b"}]'],
    ['lines', '{"id":"a"}\n{"id":"b"}\n'],
    ['documents of several lines', '{\n"id":"a"\n}\n{\n"id":"b"\n}'],
    ['items with a list of that name within', '{"id":"a"}{"id":"b","x":{"value":[{"id":"x"}]}}'],
  ])('that a document has not makes it an item when it has an id: %s', async (_, content) => {
    expect(await idsOf(content, { items: 'value' })).toEqual(['a', 'b']);
    expect(await idsOf(content, { items: 'value.list' })).toEqual(['a', 'b']);
  });

  it('that only some documents have is a fault: the others may be errors that have an id', async () => {
    const error = '{"id":"request-7","error":"rate limited"}';
    const page = '{"value":[{"id":"a"}]}';
    const lacks = "The document has no member value, which the map's items name.";

    expect(await idsOf(page + error + page, { items: 'value' })).toEqual(['a', lacks, 'a']);
    expect(await idsOf(`[${page},${error}]`, { items: 'value' })).toEqual(['a', lacks]);
    expect(await idsOf(error + page + page, { items: 'value' })).toEqual([
      'request-7',
      'Only some documents have the member value.',
      'a',
      'a',
    ]);
  });

  it.each([
    ['{"errors":[{"message":"rate limited"}],"data":null}', 'data', 'devices'],
    ['{"data":{"devices":null},"errors":[]}', 'data.devices', 'nodes'],
    ['{"data":[{"devices":{"nodes":[]}},"expired"]}', 'data', 'devices'],
    ['{"data":{"devices":7}}', 'data.devices', 'nodes'],
  ])('that ends on its way is a fault: %s', async (error, at, name) => {
    const page = '{"data":{"devices":{"nodes":[{"id":"a"}]}}}';
    const fault = `The document's ${at} has no member ${name}, which the map's items name.`;

    expect(await idsOf(page + error + page, { items: 'data.devices.nodes' })).toEqual(['a', fault, 'a']);
  });

  it('that a document has not makes it an item, which the map may leave out', async () => {
    const yaml = RECORD.replace('CUSTOM', `'kind = "pc" ? "CUSTOM" : null'`);
    const content =
      '[{"kind":"pc","id":"a"},{"kind":"none","id":"b"},{"error":"expired"},{"id":{"x":[9007199254740993]}}]';

    expect(await idsOf(content, { yaml, items: 'value' })).toEqual([
      'a',
      'left out',
      "The document has no member value, which the map's items name.",
      'left out',
    ]);
  });

  it.each([
    ['long', JSON.stringify({ id: 'long', list: Array.from({ length: 600 }, () => 'x'.repeat(2_000)) })],
    ['deep', `{"id":"deep","list":${'['.repeat(2_000)}${']'.repeat(2_000)}}`],
  ])('that a document has not makes it no item when it is too %s', async (_, content) => {
    expect(await idsOf(`[${content},{"id":"b"}]`, { items: 'value', chunk: 65_536 })).toEqual([
      "The document has no member value, which the map's items name.",
      'b',
    ]);
  });

  it('of no items gives none', async () => {
    expect(await idsOf('{"value":[]}', { items: 'value' })).toEqual([]);
  });

  it.each([
    ['{"value":[{"id":"a"},{"id":"b"', 'it ends too early'],
    ['{"value":[{"id":"a"},{"id":"b"},', 'it ends too early'],
    ['{"value":[{"id":"a"},{"id":b"}]}', 'it breaks the rules of JSON'],
    [Buffer.from([...Buffer.from('{"value":[{"id":"a"},{"id":"'), 0xff, 0xff]), 'it is not UTF-8'],
  ])('of a file that is cut or broken ends with a fault: %s', async (content, reason) => {
    const ids = await idsOf(content, { items: 'value' });

    expect(ids.at(-1)).toBe(`The file is not JSON: ${reason}. Nothing after this was read.`);
  });

  it('gives the items before the end of a file that is cut', async () => {
    expect((await idsOf('{"value":[{"id":"a"},{"id":"b"', { items: 'value' }))[0]).toBe('a');
  });

  it('keeps long integers apart', async () => {
    expect(await idsOf('{"value":[{"id":9007199254740993},{"id":9007199254740992}]}', { items: 'value' })).toEqual([
      '9007199254740993',
      '9007199254740992',
    ]);
    expect(await idsOf('{"id":9007199254740993}\n{"id":9007199254740992}')).toEqual([
      '9007199254740993',
      '9007199254740992',
    ]);
    const long = `{"id":9007199254740993,"n":[${'1,'.repeat(300_000)}1]}`;
    expect(await idsOf(long, { file: 'x.ndjson', chunk: 65_536 })).toEqual(['9007199254740993']);
  });

  it.each([
    ['a path', { items: 'value' }],
    ['an expression', { items: 'value[id]' }],
    ['no path', {}],
  ])('by %s leaves out an item of more than 1 MiB, and reads the next', async (_, options) => {
    const long = JSON.stringify({ id: 'long', list: Array.from({ length: 600 }, () => 'x'.repeat(2_000)) });

    expect(await idsOf(`{"value":[${long},{"id":"b"}]}`, { ...options, chunk: 65_536 })).toEqual([
      'The item is longer than 1048576 bytes.',
      'b',
    ]);
  });

  it('refuses a text that is longer than an item, and maps the next', async () => {
    const yaml = RECORD.replace('$firstOf([name, id])', '$pad(id, size)');

    expect(await idsOf('[{"id":"long","size":2000000},{"id":"b","size":1}]', { yaml })).toEqual([
      'record.name: The text has more than 1048576 characters.',
      'b',
    ]);
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('leaves out an item of very many %s, and reads the next', async (open, close) => {
    const deep = `{"id":"deep","list":${open.repeat(100_000)}1${close.repeat(100_000)}}`;
    const lines = await linesOf(`{"value":[${deep},{"id":"b"}]}`, { items: 'value', chunk: 65_536 });

    expect(lines.map((line) => 'bytes' in line && line.bytes)).toHaveLength(2);
    expect(lines).toMatchObject([
      { fault: 'The item has more than 1000 lists and objects within each other.' },
      { value: { externalId: 'b' } },
    ]);
  });

  it('ends at lists without end', async () => {
    const lists = '[{"id":"a"},'.repeat(400_000);
    const found = await idsOf(`{"value":${lists}`, { items: 'value', chunk: 65_536 });

    expect(found.at(-1)).toMatch(
      /^The file is not JSON: it has more than 100000 lists .* Nothing after this was read\.$/,
    );
    expect(found.length).toBeLessThan(200_000);
  });

  it('ends at a value without end', async () => {
    const [fault] = await idsOf(`{"value":[{"id":"${'x'.repeat(20 * 1_048_576)}"}]}`, {
      items: 'value',
      chunk: 1_048_576,
    });

    expect(fault).toMatch(/a value is longer than/);
  });
});

describe('An expression of items', () => {
  it('sees the whole document', async () => {
    const items = 'groups.hosts.{"id": id, "name": %.title}';
    const lines = await linesOf('{"groups":[{"title":"T","hosts":[{"id":"a"}]}]}', { items });

    expect(lines).toMatchObject([{ line: 1, value: { externalId: 'a', name: 'T' } }]);
  });

  it('sees a list as one document, and each of several documents', async () => {
    expect(await idsOf('[{"id":"a"},{"id":"b"}]', { items: '$[id = "b"]' })).toEqual(['b']);
    expect(await idsOf('{"x":[{"id":"a"}]}\n{"x":[{"id":"b"}]}', { items: 'x[id != ""]' })).toEqual(['a', 'b']);
  });

  it('joins what two files say of many people', async () => {
    const people = Array.from({ length: 2_000 }, (_, id) => ({ id: String(id), email: `${id}@example.com` }));
    const both = { devices: [{ data: [{ id: 'd', owner: { id: '1999' } }, { id: 'e' }] }], people: [{ data: people }] };
    const items = `($list := function($page) { $page.data != null ? $page.data : $error("A page has no data.") };
      $emails := people.($list($)){id: email};
      devices.($list($)).$merge([$, {"name": $lookup($emails, owner.id)}]))`;

    const lines = await linesOf(JSON.stringify(both), { items });
    const failed = await linesOf(JSON.stringify({ ...both, people: [{ error: 'expired' }] }), { items });
    const empty = await linesOf(JSON.stringify({ ...both, people: [{ data: null }] }), { items });

    expect(lines).toMatchObject([
      { value: { externalId: 'd', name: '1999@example.com' } },
      { value: { externalId: 'e' } },
    ]);
    expect([...failed, ...empty]).toMatchObject(Array(2).fill({ fault: 'items: A page has no data.' }));
  });

  it.each([
    '{"error":{"code":429}}',
    '{"message":"rate limited","errors":[{"id":"x"}],"id":"request-7"}',
    '{"errors":[{"message":"rate limited"}],"value":null}',
    '"expired"',
  ])('that reads no member of a document is a fault, for it may be an error: %s', async (error) => {
    const page = '{"value":[{"id":"a"}]}';
    const fault = "The document has no member value, which the map's items read.";

    expect(await idsOf(page + error + page, { items: 'value[id]' })).toEqual(['a', fault, 'a']);
    expect(await idsOf(`[${page},${error}]`, { items: 'value[id]' })).toEqual(['a', fault]);
  });

  it.each([
    ['value[id]', '{"value":[]}'],
    ['value[id]', '[]'],
    ['(hosts; value[id])', '{"hosts":[]}'],
    ['$.value[id]', '{"error":"expired"}'],
    ['*.value[id]', '{"error":"expired"}'],
  ])('that finds nothing is no fault where it may be an empty page: %s of %s', async (items, content) => {
    expect(await idsOf(content, { items })).toEqual([]);
  });

  it('that fails is a fault', async () => {
    expect(await idsOf('{"id":"ada"}', { items: '$number(id)' })).toEqual([expect.stringMatching(/^items: (?!.*ada)/)]);
    const noJson = 'The item is no JSON; a function in the expression may lack its brackets.';
    expect(await idsOf('{"id":"ada"}', { items: '[$, {"id": function($page) { $page }}]' })).toEqual(['ada', noJson]);
  });
});

describe('An item', () => {
  const yaml = `
category: 'kind = "none" ? null : kind = "pc" ? "COMPUTER" : "CUSTOM"'
record:
  name: $number(size) & name
  externalId: id
  description: description
  compliance.agentVersion: agent
  dataStored.userDataInfo: info`;

  it('with a null category is left out', async () => {
    expect(await idsOf('[{"kind":"none","id":"a"},{"kind":null,"id":"b","size":1}]', { yaml })).toEqual([
      'left out',
      'b',
    ]);
  });

  it('gives no member for null and empty texts, and digits for whole numbers', async () => {
    const [line] = await linesOf('[{"kind":"pc","id":7,"size":1,"name":"x","description":"","agent":12,"info":null}]', {
      yaml,
    });

    expect(line).toMatchObject({
      value: { categoryKey: 'COMPUTER', externalId: '7', name: '1x', compliance: { agentVersion: '12' } },
    });
    expect(Object.keys((line as { value: object }).value).sort()).toEqual([
      'categoryKey',
      'compliance',
      'externalId',
      'name',
    ]);
  });

  it('gets no members of another category, and no type but in the cloud', async () => {
    const map =
      'category: kind\nrecord: {externalId: id, name: id, type: CLOUD_OTHER, region: "\'eu\'", managed: "true"}';

    const lines = await linesOf('[{"kind":"CLOUD","id":"a"},{"kind":"COMPUTER","id":"b"}]', { yaml: map });

    expect(lines.map((line) => 'value' in line && line.value)).toEqual([
      { categoryKey: 'CLOUD', externalId: 'a', name: 'a', type: 'CLOUD_OTHER', region: 'eu' },
      { categoryKey: 'COMPUTER', externalId: 'b', name: 'b', managed: true },
    ]);
  });

  it('may get the type that is the only one of its category', async () => {
    const map = 'category: COMPUTER\nrecord: {externalId: id, name: id, type: "\'COMPUTER\'"}';

    const [line] = await linesOf('[{"id":"a"}]', { yaml: map });

    expect(line).toMatchObject({ value: { categoryKey: 'COMPUTER', externalId: 'a' } });
  });

  it('for which an expression fails keeps its serial number, wherever the map has it', async () => {
    const map = 'category: COMPUTER\nrecord:\n  name: size + 1\n  serialNumber: serial\n  externalId: id';

    const [line] = await linesOf('[{"id":"a","serial":"S1","size":"large"}]', { yaml: map });

    expect(line).toMatchObject({ externalId: 'a', serialNumber: 'S1', fault: expect.any(String) as string });
  });

  it('for which an expression fails is a fault with its member, its id and the item itself', async () => {
    const [line] = await linesOf('[{"kind":"pc","id":"a","size":"large"}]', { yaml });

    expect(line).toMatchObject({ line: 1, externalId: 'a', fault: expect.stringMatching(/^record\.name: /) as string });
    expect(JSON.parse(String(line?.bytes))).toEqual({ kind: 'pc', id: 'a', size: 'large' });
  });

  it('that is no object is a fault', async () => {
    expect(await idsOf('[1,"x",{"id":"a","size":1}]', { yaml })).toEqual([
      'The item is not an object.',
      'The item is not an object.',
      'a',
    ]);
  });

  it('is read again from a file of bad lines, whatever the items of the map', async () => {
    const kept = [
      { line: 3, reason: 'longer than a line may be' },
      { line: 4, reason: 'bad', text: '{"id":"a","size":1}' },
      { line: 5, reason: 'bad', header: 'id,size,name', text: 'b,2,"B, second"' },
    ];
    const text = kept.map((line) => JSON.stringify(line)).join('\n');

    expect(await linesOf(text, { yaml, items: 'value' })).toMatchObject([
      { again: true, fault: 'The line is empty.' },
      { again: true, value: { externalId: 'a' } },
      { again: true, value: { externalId: 'b', name: '2B, second' } },
    ]);
  });
});

describe('A document that breaks off', () => {
  const BROKEN = 'The file is not JSON: it breaks the rules of JSON. Nothing after this was read.';

  it.each([1, 7, 65_536])('gives every complete item before, in chunks of %p bytes', async (chunk) => {
    const text = '{"value":[{"id":"a"},{"id":"b","c":{"d":"}, ]"}}, {"id":"c"} x {"id":"d"}]}';
    expect(await idsOf(text, { items: 'value', chunk })).toEqual(['a', 'b', 'c', BROKEN]);
    expect(await idsOf('[{"id":"a"},{"id":"b"},]', { chunk })).toEqual(['a', 'b', BROKEN]);
    const latin1 = Buffer.concat([Buffer.from('[{"id":"a"},{"id":"b"},{"id":"'), Buffer.of(0xe9), Buffer.from('"}]')]);
    expect(await idsOf(latin1, { chunk })).toEqual([
      'a',
      'b',
      'The file is not JSON: it is not UTF-8. Nothing after this was read.',
    ]);
  });
});
