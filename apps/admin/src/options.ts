import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { SOURCE_NAME_RULE, isUuid, sourceName } from '#libs/kernel';

/** Options of every command. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

export function withCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON document on stdout')
    .option('--yes', 'do not ask before removing data');
}

/** npm runs commands in the project's directory, but relative paths refer to the caller's directory. */
export function fromCaller(file: string): string {
  const caller = process.env['npm_lifecycle_event'] === 'admin' ? process.env['INIT_CWD'] : undefined;
  return resolve(caller ?? process.cwd(), file);
}

/** Reads a text file that the caller names, without a byte order mark. */
export async function readText(file: string): Promise<string> {
  const path = fromCaller(file);
  // The error of reading a directory does not name it.
  const bytes = await readFile(path).catch((error: Error) => Promise.reject(Object.assign(error, { path })));
  return new TextDecoder().decode(bytes);
}

export function parseSlug(value: string): string {
  // Equals the database's check and WORKSPACE_SLUG in domain/workspace.ts; a test compares them.
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value)) return value;
  throw new InvalidArgumentError('A slug is 1 to 63 lower-case letters, digits and inner hyphens.');
}

export function parseName(value: string): string {
  const length = [...value].length;
  if (length >= 1 && length <= 200 && value.trim() !== '') return value;
  throw new InvalidArgumentError('A name has 1 to 200 characters.');
}

export function parseClientId(value: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(value)) return value;
  throw new InvalidArgumentError('A client id has 1 to 200 printable characters and no blanks.');
}

/** A command on one application, which its first argument names. */
export const forApplication = (command: Command): Command =>
  command.argument('<client_id>', 'client id of the application', parseClientId);

/** Makes a parser of ids. It refuses others with this rule. */
export const parseUuid =
  (rule: string) =>
  (value: string): string => {
    if (isUuid(value)) return value.toLowerCase();
    throw new InvalidArgumentError(rule);
  };

export function parseSource(value: string): string {
  const source = sourceName(value);
  if (source !== null) return source;
  throw new InvalidArgumentError(SOURCE_NAME_RULE);
}

export function parseTagKey(value: string): string {
  const length = [...value].length;
  if (length >= 1 && length <= 1000) return value;
  throw new InvalidArgumentError('A tag key has 1 to 1000 characters.');
}

export function parseTagValue(value: string): string {
  if ([...value].length <= 255) return value;
  throw new InvalidArgumentError('A tag value has at most 255 characters.');
}

export function collect<Item>(parse: (value: string) => Item): (value: string, before: Item[] | undefined) => Item[] {
  return (value, before) => [...(before ?? []), parse(value)];
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `30s`, `15m`, `24h` or `7d` into seconds. */
export function parseDuration(value: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,6})([smhd])$/.exec(value) ?? [];
  if (unit !== undefined) return Number(count) * SECONDS[unit as keyof typeof SECONDS];
  throw new InvalidArgumentError('A duration is written 30s, 15m, 24h or 7d.');
}
