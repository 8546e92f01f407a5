import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectFiles, root } from './project-files';

/** A value of YAML or JSON. */
export type Tree = null | string | number | boolean | readonly Tree[] | { readonly [name: string]: Tree };

export const deploymentFiles = projectFiles().filter((path) => path.startsWith('docker/'));

export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Returns the documents of every YAML file under docker/ and .github/, by path. @throws for an invalid file */
export function readYaml(): Readonly<Record<string, readonly Tree[]>> {
  const paths = projectFiles().filter((path) => /^(docker|\.github)\/.*\.ya?ml$/.test(path));
  const documents = (path: string): Tree[] =>
    textOf(path)
      .split(/^---$/m)
      .map((text) => parse(text, { merge: true }) as Tree);
  return Object.fromEntries(paths.map((path) => [path, documents(path)]));
}

/** Returns the values at a path of names, with `*` for every member. Empty when the path does not exist. */
export function at(tree: Tree | undefined, path: string): Tree[] {
  const [name, ...rest] = path.split('.');
  if (tree === undefined) return [];
  if (name === undefined || name === '') return [tree];
  if (tree === null || typeof tree !== 'object') return [];
  const members = name === '*' ? Object.values(tree) : [(tree as Record<string, Tree>)[name]];
  return members.flatMap((member) => (member === undefined ? [] : at(member, rest.join('.'))));
}

/** Returns every value of a member with this name, at any depth. */
export function everywhere(tree: Tree, name: string): Tree[] {
  if (tree === null || typeof tree !== 'object') return [];
  return Object.entries(tree).flatMap(([key, value]: [string, Tree]) => [
    ...(key === name && !Array.isArray(tree) ? [value] : []),
    ...everywhere(value, name),
  ]);
}

/** Parses lines of the form `NAME=value`. */
export function environmentOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** Returns the metrics in a Prometheus expression, each with the labels that it selects by. */
export function metricsIn(expression: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const named = expression.matchAll(/\b((?:http|compliance|process|nodejs)_\w+)(?:\{([^}]*)\})?/g);
  return [...named].map(([, name = '', picked = '']) => ({
    name: name.replace(/_(bucket|sum|count)$/, ''),
    labels: [...picked.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label as string),
  }));
}
