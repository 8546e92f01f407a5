import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A file, as far as it may name tables. */
export interface SqlSource {
  readonly file: string;
  readonly sql: readonly string[];
  /** Names of classes that the file imports. */
  readonly imported: readonly string[];
}

const ENTITY = /@Entity\('(\w+)'\)\s+export class (\w+)/g;

/** Such as `inventory/assets` for a slice or a folder of the platform, else `audit` or `apps/admin`. */
export function partOf(file: string): string {
  const [top = '', lib = '', , folder = ''] = file.split('/');
  if (top === 'apps') return `apps/${lib}`;
  return lib === 'platform' || lib === 'inventory' ? `${lib}/${folder}` : lib;
}

/** The part with the entity of each table, by the table's name and by that of the class. */
export function tableOwners(root: string, files: readonly string[]): Map<string, { table: string; owner: string }> {
  const owners = new Map<string, { table: string; owner: string }>();
  for (const file of files.filter((name) => name.endsWith('.row.ts'))) {
    for (const [, table = '', entity = ''] of readFileSync(join(root, file), 'utf8').matchAll(ENTITY)) {
      owners.set(table, { table, owner: partOf(file) });
      owners.set(entity, { table, owner: partOf(file) });
    }
  }
  return owners;
}

/** The texts of a file that may be SQL, and the classes that it imports. */
export function sqlSourceOf(root: string, file: string): SqlSource {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  const sql: string[] = [];
  const imported: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportSpecifier(node)) imported.push((node.propertyName ?? node.name).text);
    if (ts.isTemplateExpression(node)) {
      sql.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' $0 '));
    }
    if (ts.isStringLiteralLike(node)) sql.push(namesRelation(node) ? `FROM ${node.text}` : node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { file, sql, imported };
}

/** Tells whether the text is a table of a list's declaration. */
const namesRelation = ({ parent }: ts.Node): boolean =>
  (parent as ts.Node | undefined) !== undefined &&
  ts.isPropertyAssignment(parent) &&
  ['relation', 'counter', 'table'].includes((parent.name as ts.Identifier).text);

const TOKEN = /--[^\n]*|'(?:[^']|'')*'|[A-Z]+(?![a-z_])|[a-z_][\w.]*|[^\s]/g;
/** Behind these stands a table, or several with commas. */
const BEFORE_TABLES = new Set(['FROM', 'JOIN', 'INTO', 'UPDATE', 'TABLE', 'USING', 'ON', 'REFERENCES', 'TRUNCATE']);
const IN_BETWEEN = new Set(['ONLY', 'IF', 'NOT', 'EXISTS', 'LATERAL', 'CONCURRENTLY', '"']);

/** The names in a text that stand where SQL has tables. */
export function tablesIn(sql: string): string[] {
  const names: string[] = [];
  /** Whether a comma goes on with tables, for each open bracket. */
  const lists = [false];
  let expected = false;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token.startsWith('--') || IN_BETWEEN.has(token)) continue;
    const last = lists.length - 1;
    if (BEFORE_TABLES.has(token)) [expected, lists[last]] = [true, true];
    else if (token === '(') {
      lists.push(false);
      expected = false;
    } else if (token === ')') {
      if (lists.length > 1) lists.pop();
    } else if (token === ',') expected = lists[last] ?? false;
    else if (/^[a-z_]/.test(token)) {
      if (expected) names.push(token.replace(/^public\./, ''));
      expected = false;
    } else {
      expected = false;
      if (/^[A-Z]+$/.test(token) && token !== 'AS') lists[last] = false;
    }
  }
  return names;
}
