import type { Format, InputLine } from '../../domain/import-files.port';
import { isKeptLine } from '../../domain/kept-line';
import type { ItemsByExpression, ItemsOfMap, RecordMap } from '../../domain/maps/record-map';
import { csvLine, csvLines, readBooleans } from '../csv-lines';
import { type Start, formatOfItems } from '../input-format';
import { ndjsonLines } from '../ndjson-lines';
import { ITEM_LIMIT, type JsonItem, jsonItems, parseItem } from './json-items';

const MAX_DOCUMENT_BYTES = 268_435_456;
const DOCUMENT_LIMIT = {
  bytes: MAX_DOCUMENT_BYTES,
  fault: `The document is longer than ${MAX_DOCUMENT_BYTES} bytes. Only a map whose items are a plain path reads it.`,
};

const PART = 1_000;

interface MappedInput {
  readonly fileIndex: number;
  readonly file: string;
  /** Null: the name or the first bytes tell. */
  readonly format: Format | null;
  readonly map: RecordMap;
}

/** Reads a file by a map: a JSON document or several, NDJSON, CSV, or a file of bad lines that `--errors` wrote. */
export async function* mappedLines(
  bytes: AsyncIterable<Buffer>,
  start: Start,
  input: MappedInput,
): AsyncGenerator<InputLine[]> {
  for await (const lines of itemLines(bytes, start, input)) {
    for (const [at, line] of lines.entries()) {
      if (!('value' in line)) continue;
      const { fileIndex, lacks } = line;
      if (lacks !== undefined && !(await hasId(input.map, line.value))) {
        lines[at] = { fileIndex, line: line.line, fault: lacks };
        continue;
      }
      const mapped = await input.map.mapped(line.value);
      if (line.header !== undefined && 'value' in mapped) readBooleans(mapped.value);
      // The line stays the same object: its bytes are made only when somebody reads them.
      Object.assign(line, mapped);
    }
    yield lines;
  }
}

/** An error that a tool answered has no id. */
async function hasId(map: RecordMap, item: unknown): Promise<boolean> {
  try {
    const id = await map.idOf(item);
    return id !== undefined && id !== null && id !== '';
  } catch {
    return false;
  }
}

/** `lacks` says what is wrong with the value when it is no item. */
type ItemLine = InputLine & { readonly lacks?: string };

function itemLines(bytes: AsyncIterable<Buffer>, start: Start, input: MappedInput): AsyncIterable<ItemLine[]> {
  const { fileIndex, file, map } = input;
  const isKept = isKeptLine(start.value);
  const format = isKept ? 'ndjson' : (input.format ?? formatOfItems(file, start));
  if (format === 'csv') return csvLines(bytes, fileIndex, 'items');
  if (isKept || (format === 'ndjson' && map.items === null)) {
    return ndjsonLines(bytes, fileIndex, {
      json: parseItem,
      csv: (header, row) => csvLine(header, row, 'items'),
    });
  }
  return numbered(map.items === null ? wholeItems(bytes) : itemsIn(bytes, map.items), fileIndex);
}

/** Numbers items, and keeps them as they are for `--errors`. */
async function* numbered(chunks: AsyncIterable<readonly JsonItem[]>, fileIndex: number): AsyncGenerator<ItemLine[]> {
  let line = 0;
  for await (const items of chunks) {
    yield items.map((read): ItemLine => {
      line += 1;
      if ('fault' in read) return { fileIndex, line, fault: read.fault };
      const { item, lacks } = read;
      return {
        fileIndex,
        line,
        value: item,
        ...(lacks !== undefined && { lacks }),
        get bytes() {
          return Buffer.from(JSON.stringify(item));
        },
      };
    });
  }
}

/**
 * Without a path: elements of lists and documents that follow each other are items. A single object is one, or the list
 * that its only array of objects is.
 */
async function* wholeItems(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly JsonItem[]> {
  let single: (JsonItem & { readonly item: unknown }) | null = null;
  let count = 0;
  for await (const items of jsonItems(bytes, [], DOCUMENT_LIMIT)) {
    const ready: JsonItem[] = [];
    for (const read of items) {
      count += 1;
      if (single !== null) ready.push(asItem(single));
      single = null;
      if (count === 1 && 'item' in read && !read.listed) single = read;
      else ready.push(asItem(read));
    }
    if (ready.length > 0) yield ready;
  }
  if (single === null) return;
  const list = listOf(single.item);
  if (list === null) yield [asItem(single)];
  else yield* inParts(list);
}

/** A document may have any number of items, of any size, and a line takes as much memory as a small one. */
function* inParts(items: readonly unknown[]): Generator<readonly JsonItem[]> {
  for (let at = 0; at < items.length; at += PART) {
    yield items.slice(at, at + PART).map(foundItem);
  }
}

/** A function without its brackets is an item that no JSON can say. */
function foundItem(item: unknown): JsonItem {
  try {
    return asItem({ item, bytes: Buffer.byteLength(JSON.stringify(item)), listed: true });
  } catch {
    return { fault: 'The item is no JSON; a function in the expression may lack its brackets.' };
  }
}

function asItem(read: JsonItem): JsonItem {
  if ('fault' in read || read.bytes <= ITEM_LIMIT.bytes) return read;
  return { fault: ITEM_LIMIT.fault };
}

/** Returns the only member that is a list of objects; null when there is none, or another list beside it. */
function listOf(document: unknown): readonly unknown[] | null {
  if (typeof document !== 'object' || document === null) return null;
  const lists = Object.values(document).filter((value): value is unknown[] => Array.isArray(value));
  const [list = []] = lists;
  const isOfObjects = list.length > 0 && list.every((item) => typeof item === 'object' && item !== null);
  return lists.length === 1 && isOfObjects ? list : null;
}

async function* itemsIn(bytes: AsyncIterable<Buffer>, items: ItemsOfMap): AsyncGenerator<readonly JsonItem[]> {
  if ('path' in items) {
    yield* jsonItems(bytes, items.path);
    return;
  }
  for await (const read of jsonItems(bytes, null, DOCUMENT_LIMIT)) {
    for (const document of read) {
      if ('fault' in document) yield [document];
      else yield* foundIn(document.item, items);
    }
  }
}

async function* foundIn(document: unknown, items: ItemsByExpression): AsyncGenerator<readonly JsonItem[]> {
  let found: unknown;
  try {
    found = await items.find(document);
  } catch (error) {
    yield [{ fault: `items: ${(error as Error).message}` }];
    return;
  }
  if (found !== undefined) yield* inParts(Array.isArray(found) ? (found as unknown[]) : [found]);
  const { reads } = items;
  if (reads === null) return;
  const fault = `The document has no member ${reads.join(' or ')}, which the map's items read.`;
  const pages = [document].flat().filter((page) => !hasSome(page, reads));
  yield pages.map(() => ({ fault }));
}

/** Null is what GraphQL has in place of a member when it answers an error. */
const hasSome = (page: unknown, names: readonly string[]): boolean =>
  names.some((name) => ((page ?? {}) as Readonly<Record<string, unknown>>)[name] != null);
