import { LineCounter, type Node, type Pair, type Scalar, isMap, parseDocument } from 'yaml';
import { z } from 'zod';
import { MapInvalid } from '../../domain/maps/record-map';

const MAX_FILE_CHARACTERS = 1_048_576;

/** A member of a map with its place. Null: the map that this one extends has it, and this one has not. */
export interface MapLine {
  readonly text: string | null;
  readonly file: string;
  readonly line: number;
}

/** A map as its file says it, before what it extends. */
export interface MapFile {
  readonly file: string;
  readonly yaml: string;
  readonly description: string | null;
  readonly extends: MapLine | null;
  readonly items: MapLine | null;
  readonly category: MapLine | null;
  readonly record: ReadonlyMap<string, MapLine>;
}

/** YAML reads `managed: true` as a boolean. Null removes a member. */
const expression = z.union([z.string(), z.boolean(), z.number(), z.null()], {
  error: 'must be an expression, which is a text',
});
const text = z.string({ error: 'must be a text' });
const schema = z.strictObject({
  description: text.optional(),
  extends: text.optional(),
  items: expression.optional(),
  category: expression.optional(),
  record: z.record(z.string(), expression, { error: 'must name members and their expressions' }).optional(),
});

/** Reads the YAML of a map. @throws {@link MapInvalid} with every fault, and the file, line and member of each */
export function readMapFile(file: string, yaml: string): MapFile {
  const lines = new LineCounter();
  if (yaml.length > MAX_FILE_CHARACTERS) throw new MapInvalid([`${file} is too long for a map.`]);
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number | undefined): number => Math.max(1, lines.linePos(offset ?? 0).line);
  if (document.errors.length > 0) {
    throw new MapInvalid(document.errors.map(({ message, pos }) => `${file}:${lineOf(pos[0])}: ${message}.`));
  }
  const placeOf = (path: readonly PropertyKey[]): number => lineOf(offsetOf(document.contents, path));
  const parsed = schema.safeParse(plain(() => document.toJS() as unknown, file));
  if (!parsed.success) throw new MapInvalid(faultsOf(parsed.error, (path) => `${file}:${placeOf(path)}`));
  const lineAt = (value: Expression | undefined, ...path: string[]): MapLine | null =>
    value === undefined ? null : { text: value === null ? null : String(value), file, line: placeOf(path) };
  const { description, extends: base, items, category, record = {} } = parsed.data;
  return {
    ...{ file, yaml, description: description ?? null },
    ...{ extends: lineAt(base, 'extends'), items: lineAt(items, 'items'), category: lineAt(category, 'category') },
    record: new Map(
      Object.entries(record).map(([name, value]) => [name, lineAt(value, 'record', name) as MapLine] as const),
    ),
  };
}

type Expression = z.infer<typeof expression>;

/** @throws for aliases that expand without end */
function plain(read: () => unknown, file: string): unknown {
  try {
    return read();
  } catch (error) {
    throw new MapInvalid([`${file}: ${(error as Error).message}.`]);
  }
}

function faultsOf(error: z.ZodError, placeOf: (path: readonly PropertyKey[]) => string): string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${placeOf([...issue.path, key])}: ${key} is not a member of a map.`);
    }
    const name = issue.path.map(String).join('.');
    return [`${placeOf(issue.path)}: ${name === '' ? 'A map must be a YAML mapping' : `${name} ${issue.message}`}.`];
  });
}

/** Returns where the key of a member stands. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number | undefined {
  let [node, offset] = [contents, undefined as number | undefined];
  for (const name of path) {
    const pair = isMap(node) ? (node.items as Pair<Scalar, Node>[]).find(({ key }) => key.value === name) : undefined;
    if (pair === undefined) break;
    offset = pair.key.range?.[0];
    node = pair.value;
  }
  return offset;
}
