import { type Contract, type Schema, resolve } from './contract-document';

/** The author of the described value. Requests must stay accepted; responses must stay understood. */
export type Direction = 'request' | 'response';

export interface Comparison {
  readonly before: Contract;
  readonly after: Contract;
  /** Records a change that a client of the old contract would notice. */
  readonly breaks: (place: string, what: string) => void;
}

const LOWER_LIMITS = ['minimum', 'minLength', 'minItems'] as const;
const UPPER_LIMITS = ['maximum', 'maxLength', 'maxItems'] as const;

/** Records values that a request may no longer have, and values that a response may newly have. */
export function compareSchemas(
  comparison: Comparison,
  place: string,
  direction: Direction,
  [oldSchema, newSchema]: readonly [Schema, Schema],
): void {
  const before = flattened(comparison.before, oldSchema);
  const after = flattened(comparison.after, newSchema);
  const breaks = (what: string) => comparison.breaks(place, what);

  compareNull(direction, before, after, breaks);
  // A member that allowed only null loses nothing when more is allowed.
  if (direction === 'request' && before.enum?.length === 0) return;
  if (before.type !== after.type) {
    breaks(`has another type: ${after.type ?? 'any'}, not ${before.type ?? 'any'}`);
    return;
  }
  compareValues(direction, before, after, breaks);
  compareLimits(direction, before, after, breaks);
  for (const word of ['format', 'pattern'] as const) {
    if (before[word] === after[word]) continue;
    // Fewer constraints on requests and more constraints on responses are harmless.
    const harmless = direction === 'request' ? after[word] === undefined : before[word] === undefined;
    if (!harmless) breaks(`has another ${word}`);
  }
  if (JSON.stringify(before.default) !== JSON.stringify(after.default)) breaks('has another default');
  if (before.items && after.items) compareSchemas(comparison, `${place}[]`, direction, [before.items, after.items]);
  compareMembers(comparison, place, direction, [before, after]);
}

function compareNull(direction: Direction, before: Schema, after: Schema, breaks: (what: string) => void): void {
  const [wasNullable, isNullable] = [before.nullable === true, after.nullable === true];
  if (direction === 'request' && wasNullable && !isNullable) breaks('no longer takes null');
  if (direction === 'response' && !wasNullable && isNullable) breaks('can be null now');
}

function compareValues(direction: Direction, before: Schema, after: Schema, breaks: (what: string) => void): void {
  const [narrow, wide] = direction === 'request' ? [after, before] : [before, after];
  if (!narrow.enum) return;
  if (!wide.enum) {
    breaks(direction === 'request' ? 'takes only some values now' : 'can have any value now');
    return;
  }
  for (const value of wide.enum) {
    if (narrow.enum.includes(value)) continue;
    breaks(direction === 'request' ? `no longer takes ${String(value)}` : `can be ${String(value)} now`);
  }
}

function compareLimits(direction: Direction, before: Schema, after: Schema, breaks: (what: string) => void): void {
  const [narrow, wide] = direction === 'request' ? [after, before] : [before, after];
  const what = direction === 'request' ? 'narrower' : 'wider';
  for (const limit of LOWER_LIMITS) {
    const bound = narrow[limit];
    if (bound !== undefined && bound > (wide[limit] ?? -Infinity)) breaks(`has a ${what} ${limit}`);
  }
  for (const limit of UPPER_LIMITS) {
    const bound = narrow[limit];
    if (bound !== undefined && bound < (wide[limit] ?? Infinity)) breaks(`has a ${what} ${limit}`);
  }
}

function compareMembers(
  comparison: Comparison,
  place: string,
  direction: Direction,
  [before, after]: readonly [Schema, Schema],
): void {
  const isRequest = direction === 'request';
  for (const [name, schema] of Object.entries(before.properties ?? {})) {
    const member = `${place}.${name}`;
    const now = after.properties?.[name];
    if (!now) comparison.breaks(member, 'is gone');
    else compareSchemas(comparison, member, direction, [schema, now]);
  }
  const [were, are] = [before.required ?? [], after.required ?? []];
  if (isRequest) {
    for (const name of are) if (!were.includes(name)) comparison.breaks(`${place}.${name}`, 'is required now');
    if (before.additionalProperties !== false && after.additionalProperties === false)
      comparison.breaks(place, 'no longer takes members that it does not name');
    return;
  }
  for (const name of were) {
    if (after.properties?.[name] && !are.includes(name)) comparison.breaks(`${place}.${name}`, 'can be absent now');
  }
}

/** Normalizes a schema: follows references, and writes `nullable` as null and every closed list as `enum`. */
function flattened(contract: Contract, schema: Schema): Schema {
  const { allOf, ...own } = resolve<Schema>(contract, schema as Schema & { $ref: string });
  // `nullable` beside a reference allows null.
  if (allOf) return allOf.reduce<Schema>((all, part) => ({ ...flattened(contract, part), ...all }), own);
  const { pattern, ...rest } = own;
  const [, constant] = /^\^([\w-]+)\$$/.exec(pattern ?? '') ?? [];
  if (constant !== undefined) return { ...rest, enum: [constant] };
  if (!own.enum) return own;
  // A list of values must contain null as well.
  return {
    ...own,
    nullable: own.nullable === true && own.enum.includes(null),
    enum: own.enum.filter((value) => value !== null),
  };
}
