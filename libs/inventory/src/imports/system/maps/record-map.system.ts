import { ASSET_TYPES, CATEGORY_KEYS, type CategoryKey } from '../../../assets/domain/asset-category';
import { MAX_LINE_BYTES } from '../../domain/import-files.port';
import { MEMBER_PATHS, isMappedMember } from '../../domain/import-record';
import { type ItemsOfMap, MapInvalid, type MappedItem, type RecordMap } from '../../domain/maps/record-map';
import { type MapExpression, mapExpression, membersRead, plainPath } from './map-expression';
import type { MapLine } from './map-file';
import type { ExpressionLimits } from './step-limits';

/** A map with what it extends, each member by the file that says it last. */
export interface MapSource {
  readonly name: string;
  /** Its file before those that it extends. */
  readonly files: readonly string[];
  readonly description: string | null;
  readonly items: MapLine | null;
  readonly category: MapLine | null;
  readonly record: ReadonlyMap<string, MapLine>;
}

/** An expression for items sees a whole document. */
const DOCUMENT_LIMITS: ExpressionLimits = { timeout: 60_000, stack: 200_000, sequence: 5_000_000 };
const REQUIRED = ['externalId', 'name'];
/** They come first, the last one before: an item whose other members fail is still known by them. */
const IDENTIFYING = ['serialNumber', 'externalId'];
/** An expression makes a text of any length from an item, which has a limit. */
const TOO_LONG = `The text has more than ${MAX_LINE_BYTES} characters.`;
const CONSTANTS: Readonly<Record<string, readonly string[]>> = { type: ASSET_TYPES };

/** Checks a map and compiles its expressions. @throws {@link MapInvalid} with every fault */
export function recordMap(source: MapSource): RecordMap {
  const faults: string[] = [];
  const compile = <Compiled>(line: MapLine, member: string, compiled: (text: string) => Compiled): Compiled | null => {
    try {
      return compiled(line.text ?? '');
    } catch (error) {
      faults.push(`${line.file}:${line.line}: ${member}: ${(error as Error).message}`);
      return null;
    }
  };
  const fixed = CATEGORY_KEYS.find((key) => key === source.category?.text) ?? null;
  const [file = ''] = source.files;
  if (!source.category?.text) faults.push(`${file}: A map needs category.`);
  for (const name of REQUIRED) {
    if (!source.record.get(name)?.text) faults.push(`${file}: A map needs record.${name}.`);
  }
  const category = source.category && compile(source.category, 'category', (text) => constantOr(CATEGORY_KEYS, text));
  const items = source.items?.text ? compile(source.items, 'items', itemsOf) : null;
  const members: MapMember[] = [];
  for (const [name, line] of source.record) {
    const fault = faultOfMember(name, line.text === null ? null : fixed);
    if (fault !== null) faults.push(`${line.file}:${line.line}: ${fault}`);
    if (line.text === null || fault !== null) continue;
    const value = compile(line, `record.${name}`, (text) => constantOr(CONSTANTS[name] ?? [], text));
    if (value) members.push({ name, path: name.split('.'), value });
  }
  if (faults.length > 0 || !category) throw new MapInvalid(faults);
  const idOf = members.find(({ name }) => name === 'externalId')?.value ?? (() => undefined);
  members.sort((one, other) => IDENTIFYING.indexOf(other.name) - IDENTIFYING.indexOf(one.name));
  return {
    ...{ name: source.name, files: source.files, items, members: members.map(({ name }) => name) },
    idOf,
    mapped: (item) => mapItem(item, category, members),
  };
}

interface MapMember {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: MapExpression;
}

const constantOr = (constants: readonly string[], text: string): MapExpression =>
  constants.includes(text) ? () => text : mapExpression(text);

function itemsOf(text: string): ItemsOfMap {
  const path = plainPath(text);
  if (path !== null) return { path };
  const expression = mapExpression(text, DOCUMENT_LIMITS);
  return { find: async (document) => expression(document), reads: membersRead(text) };
}

function faultOfMember(name: string, category: CategoryKey | null): string | null {
  if (name === 'categoryKey') return 'record.categoryKey: category beside record says it.';
  if (!MEMBER_PATHS.has(name)) return `record.${name} is not a member of records.`;
  const [top = ''] = name.split('.');
  // Records of every category may have a type.
  return category === null || name === 'type' || isMappedMember(category, top)
    ? null
    : `record.${name} is not a member of ${category} records.`;
}

/** Awaits a member only where it is a promise: one for each member would take most of the time. */
async function mapItem(item: unknown, category: MapExpression, members: readonly MapMember[]): Promise<MappedItem> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { fault: 'The item is not an object.' };
  }
  const value: Record<string, unknown> = {};
  let member = 'category';
  try {
    const found = await category(item);
    if (found === undefined || found === null) return { leftOut: true };
    value['categoryKey'] = found;
    const key = CATEGORY_KEYS.find((one) => one === found);
    for (const { name, path, value: expression } of members) {
      // One map may give several categories, and each has members of its own.
      if (key !== undefined && !isMappedMember(key, path[0] ?? '')) continue;
      member = `record.${name}`;
      const result = expression(item);
      place(value, path, result instanceof Promise ? await result : result);
    }
    return { value };
  } catch (error) {
    return {
      fault: `${member}: ${(error as Error).message}`,
      ...(typeof value['externalId'] === 'string' && { externalId: value['externalId'] }),
      ...(typeof value['serialNumber'] === 'string' && { serialNumber: value['serialNumber'] }),
    };
  }
}

/** Null and an empty text are unknown. A whole number is its digits where a text belongs, and no member is a number. */
function place(record: Record<string, unknown>, [name = '', inner]: readonly string[], value: unknown): void {
  if (value === undefined || value === null || value === '') return;
  if (typeof value === 'string' && value.length > MAX_LINE_BYTES) throw new Error(TOO_LONG);
  const content = Number.isSafeInteger(value) ? String(value as number) : value;
  if (inner === undefined) {
    record[name] = content;
    return;
  }
  const outer = (record[name] ?? {}) as Record<string, unknown>;
  outer[inner] = content;
  record[name] = outer;
}
