import jsonata, { type ExprNode } from 'jsonata';
import { MAP_FUNCTIONS } from '../../domain/maps/map-functions';
import { timeText } from '../../domain/maps/time-text';
import { LinearRegex } from './linear-regex';
import { ASK_JSONATA, quickExpression } from './quick-expression';
import { type ExpressionLimits, StepLimits } from './step-limits';

/** An item has at most 1 MiB, so each limit is far above its needs. */
const ITEM_LIMITS: ExpressionLimits = { timeout: 2_000, stack: 500, sequence: 100_000 };
/** Errors whose value is a limit, and no part of the item. */
const LIMIT_CODES = ['D1011', 'D1012', 'D2014', 'D2015'];

/** An expression of a map, or one value for every item. */
export type MapExpression = (item: unknown) => unknown;

/**
 * Compiles an expression. It returns a promise only where JSONata must evaluate it, and rejects or throws with a sentence
 * that names no value of the item.
 * @throws when the text does not parse
 */
export function mapExpression(text: string, limits: ExpressionLimits = ITEM_LIMITS): MapExpression {
  const options = new StepLimits(limits);
  const expression = parsed(() => jsonata(text, options));
  parsed(() => checkNode(expression.ast(), namesBoundIn(expression.ast())));
  for (const [name, implementation] of Object.entries({ ...MAP_FUNCTIONS, ...REPLACED })) {
    expression.registerFunction(name, implementation as (...values: unknown[]) => unknown);
  }
  const evaluate = (item: unknown): Promise<unknown> => {
    options.begin();
    return expression
      .evaluate(item)
      .catch((error: unknown) => Promise.reject(new Error(sentenceOf(error as ExpressionError))));
  };
  const quick = quickExpression(expression.ast());
  if (quick === null) return evaluate;
  return (item) => {
    const value = quick(item);
    return value === ASK_JSONATA ? evaluate(item) : value;
  };
}

/** Returns the names of a plain path, such as `data.hosts`, or null for any other expression. */
export function plainPath(text: string): readonly string[] | null {
  const { type, steps = [] } = parsed(() => jsonata(text).ast());
  const isPlain =
    (type as string) === 'path' && steps.every((step) => step.type === 'name' && Object.keys(step).length === 3);
  return isPlain ? steps.map(({ value }) => String(value)) : null;
}

/** Returns the members of a document that its paths begin with, or null where an expression may read any member. */
export function membersRead(text: string): readonly string[] | null {
  const names = firstNames(parsed(() => jsonata(text).ast()));
  return names.length > 0 && !names.includes(null) ? (names as string[]) : null;
}

/** Null stands for any name: `$`, `$$`, `*` and `**`. */
function firstNames(node: object): (string | null)[] {
  const { type, value, steps = [] } = node as { type?: string; value?: unknown; steps?: object[] };
  if (type === 'name') return [String(value)];
  if (type === 'wildcard' || type === 'descendant' || (type === 'variable' && /^\$?$/.test(String(value))))
    return [null];
  return (steps.length > 0 ? steps.slice(0, 1) : partsOf(node)).flatMap(firstNames);
}

/** An item must not hold expressions, and pictures of times run on expressions that are not linear. */
const REPLACED = {
  eval: () => {
    throw new Error('A map has no $eval.');
  },
  toMillis: (text: unknown, picture?: unknown) => {
    if (picture !== undefined) throw new Error('$toMillis of a map takes no picture.');
    const time = timeText(text);
    return time === undefined ? undefined : Date.parse(time);
  },
};

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new Error(`does not parse: ${(error as Error).message.replace(/\.?$/, '.')}`, { cause: error });
  }
}

/** The parts of a node, whatever holds them. */
const partsOf = (node: object): object[] =>
  Object.values(node).flatMap((part: unknown) =>
    Array.isArray(part) ? (part.flat(2) as unknown[]).filter(isObject) : isObject(part) ? [part] : [],
  );

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof RegExp);

/** Finds what would fail on every item: regular expressions that RE2 does not know, and unknown functions. */
function checkNode(node: object, bound: ReadonlySet<string>): void {
  const { type, value, procedure } = node as { type?: string; value?: unknown; procedure?: ExprNode };
  if (type === 'regex' && value instanceof RegExp) new LinearRegex(value);
  const called = type === 'function' && procedure?.type === 'variable' ? String(procedure.value) : null;
  if (called !== null && !bound.has(called) && !isFunction(called)) throw new Error(`There is no function $${called}.`);
  for (const part of partsOf(node)) checkNode(part, bound);
}

function isFunction(name: string): boolean {
  return Object.hasOwn(MAP_FUNCTIONS, name) || FUNCTIONS_OF_JSONATA.has(name);
}

/** Names that the expression itself gives. */
function namesBoundIn(node: object, names = new Set<string>()): Set<string> {
  const {
    type,
    value,
    lhs,
    arguments: given,
  } = node as { type?: string; value?: unknown; lhs?: ExprNode; arguments?: ExprNode[] };
  if (type === 'bind' && value === ':=') names.add(String(lhs?.value));
  if (type === 'lambda') for (const parameter of given ?? []) names.add(String(parameter.value));
  for (const part of partsOf(node)) namesBoundIn(part, names);
  return names;
}

/** An error of JSONata. An error of our own functions has no code. */
type ExpressionError = Error & { readonly code?: string } & Readonly<Record<string, unknown>>;

/** Leaves out what the message shows of the item: it may be personal data, and reports are kept. */
function sentenceOf(error: ExpressionError): string {
  let sentence = error.message;
  if (error.code === undefined || LIMIT_CODES.includes(error.code)) return sentence;
  for (const name of ['value', 'value2', 'key', 'index']) {
    const shown = error[name];
    if (shown === undefined || shown === null || shown === '') continue;
    for (const text of [JSON.stringify(shown), String(shown as string)]) sentence = sentence.replaceAll(text, '…');
  }
  return sentence;
}

const FUNCTIONS_OF_JSONATA = new Set(
  (
    'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad ' +
    'match contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs ' +
    'sqrt power random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse ' +
    'each error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl ' +
    'decodeUrlComponent decodeUrl eval toMillis fromMillis clone now millis'
  ).split(' '),
);
