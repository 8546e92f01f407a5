import { parseForeignJson } from '#libs/kernel';
import { getManyValues, isMany, none } from 'stream-chain/core';
import Assembler from 'stream-json/assembler.js';
import { type Token as ParsedToken, jsonParser } from 'stream-json/core/parser.js';
import { InputUnreadable, MAX_LINE_BYTES } from '../../domain/import-files.port';
import { MemoryWatch } from './memory-watch';

/** One value, such as a text, stays in memory until its end. */
const MAX_VALUE_BYTES = 16 * MAX_LINE_BYTES;
const AFTER_AN_OBJECT = /(?<=\})(?=[\s,\]{])/;
/** Few levels more than any tool has. What is deeper ends JSON.stringify and expressions, which call themselves. */
const MOST_LEVELS = 1_000;
const TOO_DEEP = `The item has more than ${MOST_LEVELS} lists and objects within each other.`;
/** The parser remembers every level, so more end the reading. */
const MOST_LEVELS_OF_FILE = 100_000;
const PART = 65_536;
const LONG_INTEGER = /^-?\d{16,}$/;
/** Quotes, and a colon or a comma. */
const AROUND = 3;

/** `value` is absent for brackets. */
type Token = ParsedToken & { readonly value?: unknown };
type Parser = (chunk: unknown) => unknown;

/** An item of a document, or the reason why there is none. */
export type JsonItem = ReadItem | { readonly fault: string };

interface ReadItem {
  readonly item: unknown;
  readonly bytes: number;
  readonly listed: boolean;
  /** Fault of a document without the first member of the path, if it is no item itself. */
  readonly lacks?: string;
}

/** The length that is too long for an item, and what a person reads then. */
interface ItemLimit {
  readonly bytes: number;
  readonly fault: string;
}

export const ITEM_LIMIT: ItemLimit = {
  bytes: MAX_LINE_BYTES,
  fault: `The item is longer than ${MAX_LINE_BYTES} bytes.`,
};

/**
 * Reads the items at a path of JSON documents that follow each other, as a stream. As in JSONata, a path goes through
 * lists: every element of a list is an item. With an empty path, the documents and the elements of their lists are items,
 * and without one the documents as they are. `listed` tells whether a list holds the item. An integer beyond ±(2^53 − 1)
 * becomes a text.
 */
export async function* jsonItems(
  content: AsyncIterable<Buffer>,
  path: readonly string[] | null,
  documentLimit: ItemLimit = ITEM_LIMIT,
): AsyncGenerator<JsonItem[]> {
  const parse = newParser();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const walk = new ItemWalk(path, documentLimit);
  const memory = new MemoryWatch();
  let silent = 0;
  let isAll = false;
  try {
    for await (const chunk of content) {
      const { text, fault } = decoded(decoder, chunk);
      let tokens = 0;
      // An error loses the tokens before it in the same text, so a text ends where an item may.
      for (const part of text.split(AFTER_AN_OBJECT)) tokens += walk.take(tokensOf(parse(part)));
      if (fault !== null) throw fault;
      if (walk.isLarge) walk.forget(memory.shortage());
      silent = tokens === 0 ? silent + chunk.length : 0;
      const items = walk.left();
      if (items.length > 0) yield items;
      if (silent > MAX_VALUE_BYTES) throw new Error(`a value is longer than ${MAX_VALUE_BYTES} bytes`);
      if (walk.levels > MOST_LEVELS_OF_FILE) {
        throw new Error(`it has more than ${MOST_LEVELS_OF_FILE} lists and objects within each other`);
      }
    }
    isAll = true;
    walk.take([...tokensOf(parse(decoder.decode())), ...tokensOf(parse(none))]);
    const items = walk.left();
    if (items.length > 0) yield items;
    if (walk.levels > 0) throw new Error('a bracket is open');
  } catch (error) {
    if (!isOfContent(error)) throw error;
    const reason = isAll ? 'it ends too early' : reasonOf(error);
    yield [...walk.left(), { fault: `The file is not JSON: ${reason}. Nothing after this was read.` }];
  }
}

/** Items of a chunk, and the error that ends it. */
function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  chunk: Buffer,
): { readonly text: string; readonly fault: Error | null } {
  try {
    return { text: decoder.decode(chunk, { stream: true }), fault: null };
  } catch (error) {
    return { text: chunk.toString().split('\ufffd', 1)[0] ?? '', fault: error as Error };
  }
}

/** It gets texts, and at the end a symbol. */
const newParser = (): Parser =>
  jsonParser({ packValues: true, streamValues: false, jsonStreaming: true }) as unknown as Parser;

/** Errors of the file system have a code. */
const isOfContent = (error: unknown): error is Error =>
  error instanceof Error &&
  !(error instanceof InputUnreadable) &&
  (!('code' in error) || error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA');

function reasonOf(error: Error): string {
  if ('code' in error) return 'it is not UTF-8';
  return error.message.startsWith('Parser ') ? 'it breaks the rules of JSON' : error.message;
}

/** The parser returns many tokens, one or none. */
function tokensOf(parsed: unknown): readonly Token[] {
  if (parsed === none) return [];
  return isMany(parsed) ? (getManyValues(parsed) as Token[]) : [parsed as Token];
}

/** A value whose end is not read yet. */
class Unfinished {
  open = 0;
  bytes = 0;
  /** Why it is forgotten. */
  private fault: string | null = null;
  private assembler: Assembler | null = new Assembler();

  constructor(
    private readonly limit: ItemLimit,
    private readonly listed: boolean,
  ) {}

  /** Forgets the value for this reason, and follows it to its end. */
  forget(reason: string): void {
    this.fault ??= reason;
    this.assembler = null;
  }

  /** Returns the value when this is its last token. */
  take(token: Token): JsonItem | null {
    const { name, value } = token;
    if (name === 'startObject' || name === 'startArray') this.open += 1;
    else if (name === 'endObject' || name === 'endArray') this.open -= 1;
    this.bytes += typeof value === 'string' ? value.length + AROUND : 1;
    // A value that is too long or too deep is forgotten at once.
    if (this.bytes > this.limit.bytes) this.forget(this.limit.fault);
    if (this.open > MOST_LEVELS) this.forget(TOO_DEEP);
    const isLong = name === 'numberValue' && isUnsafe(String(value));
    this.assembler?.consume(isLong ? ({ name: 'stringValue', value } as Token) : token);
    if (this.open > 0) return null;
    if (this.fault !== null) return { fault: this.fault };
    return { item: this.assembler?.current as unknown, bytes: this.bytes, listed: this.listed };
  }
}

/** Follows the tokens of documents and assembles those that make an item. */
class ItemWalk {
  /** The open objects and lists. `at`: length of the path there, or null outside of it. `found`: it has the next name. */
  private readonly depths: { readonly at: number | null; readonly list: boolean; found: boolean }[] = [];
  /** The position of the next value. */
  private next: number | null = 0;
  private item: Unfinished | null = null;
  /** The document that has no first member of the path so far. */
  private whole: Unfinished | null = null;
  /** Content of the file so far. A file has pages or items, never both. */
  private holds: 'pages' | 'items' | null = null;
  private items: JsonItem[] = [];
  private readonly path: readonly string[];
  private readonly goesThroughLists: boolean;

  constructor(
    path: readonly string[] | null,
    private readonly documentLimit: ItemLimit,
  ) {
    this.path = path ?? [];
    this.goesThroughLists = path !== null;
  }

  /** Lists and objects that are open. */
  get levels(): number {
    return this.depths.length + (this.item?.open ?? 0);
  }

  /** True while a document is read that is longer than any item. */
  get isLarge(): boolean {
    return this.item !== null && this.item.bytes > ITEM_LIMIT.bytes;
  }

  /** Forgets the document for this reason, if there is one. */
  forget(reason: string | null): void {
    if (reason !== null) this.item?.forget(`The document ${reason}`);
  }

  /** Returns the number of tokens. */
  take(tokens: readonly Token[]): number {
    for (const token of tokens) this.step(token);
    return tokens.length;
  }

  /** Hands out the items that are complete. */
  left(): JsonItem[] {
    const { items } = this;
    this.items = [];
    return items;
  }

  private step(token: Token): void {
    if (this.item !== null) {
      this.assemble(this.item, token);
      return;
    }
    const { name } = token;
    const ended = this.whole?.take(token) ?? null;
    if (name === 'endObject' || name === 'endArray') {
      const closed = this.depths.pop();
      if (closed?.at === 0 && !closed.list && !closed.found) this.tellMissing(ended);
      this.rest();
    } else if (name === 'keyValue') this.enterKey(String(token.value));
    else if (this.next === this.path.length && (name !== 'startArray' || !this.goesThroughLists)) this.begin(token);
    else if (name === 'startObject' || name === 'startArray') {
      this.depths.push({ at: this.next, list: name === 'startArray', found: false });
      if (name === 'startArray') return;
      if (this.next === 0) {
        this.whole = new Unfinished(ITEM_LIMIT, false);
        this.whole.take(token);
      }
      this.next = null;
    } else {
      if (this.next === 0) this.tellMissing(null);
      else if (this.next !== null) this.tellEnd(this.next);
      this.rest();
    }
  }

  /** The path ends in null or a scalar, as in the errors of GraphQL. */
  private tellEnd(at: number): void {
    const [there, name] = [this.path.slice(0, at).join('.'), this.path[at]];
    this.items.push({ fault: `The document's ${there} has no member ${name}, which the map's items name.` });
  }

  /** Such a document is an item itself, or an error that the tool answered in place of a page, such as a rate limit. */
  private tellMissing(document: JsonItem | null): void {
    const [name = ''] = this.path;
    const lacks = `The document has no member ${name}, which the map's items name.`;
    const isItem = document !== null && 'item' in document && this.holds !== 'pages';
    if (isItem) this.holds = 'items';
    this.items.push(isItem ? { ...document, lacks } : { fault: lacks });
    this.whole = null;
  }

  /** A document before the first page may have been an error that had an id. */
  private tellPage(): void {
    const [name = ''] = this.path;
    if (this.holds === 'items') this.items.push({ fault: `Only some documents have the member ${name}.` });
    this.holds = 'pages';
  }

  private enterKey(key: string): void {
    const outer = this.depths.at(-1);
    const at = outer?.at ?? null;
    this.next = at !== null && this.path[at] === key ? at + 1 : null;
    if (!outer || this.next === null) return;
    outer.found = true;
    this.whole = null;
    if (at === 0) this.tellPage();
  }

  /** After a value, the next one is an element of the same list, or another document. */
  private rest(): void {
    const outer = this.depths.at(-1);
    this.next = outer === undefined ? 0 : outer.list ? outer.at : null;
  }

  private begin(token: Token): void {
    const limit = this.depths.length === 0 ? this.documentLimit : ITEM_LIMIT;
    this.item = new Unfinished(limit, this.depths.at(-1)?.list === true);
    this.assemble(this.item, token);
  }

  private assemble(item: Unfinished, token: Token): void {
    const read = item.take(token);
    if (read === null) return;
    this.items.push(read);
    this.item = null;
    this.rest();
  }
}

const isUnsafe = (number: string): boolean => LONG_INTEGER.test(number) && !Number.isSafeInteger(Number(number));

/** A line has its own limit. */
const NO_LIMIT: ItemLimit = { bytes: Infinity, fault: '' };

/** Parses a text as {@link jsonItems} does: two long integers never become one. @throws when it is not JSON */
export function parseItem(text: string): unknown {
  const value = parseForeignJson(text);
  if (!/\d{16}/.test(text)) return value;
  const parse = newParser();
  const walk = new ItemWalk(null, NO_LIMIT);
  walk.take([...tokensOf(parse(text)), ...tokensOf(parse(none))]);
  const [read] = walk.left();
  return read && 'item' in read ? read.item : value;
}

/** Whether a text is JSON as far as it goes. */
export function isStartOfJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    const parse = newParser();
    // The tokens of all parts at once would take a hundred times their length.
    for (let at = 0; at < text.length; at += PART) parse(text.slice(at, at + PART));
    return true;
  } catch {
    return false;
  }
}
