import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { meaningOf, settingsSchema } from '#libs/platform/config';
import { root } from './project-files';

export const SETTINGS_PAGE = join(root, 'docs/settings.md');

type Name = keyof typeof settingsSchema.shape;

const HEADINGS = ['setting', 'default', 'meaning'];
const isOfTraces = (name: Name): boolean => name.startsWith('OTEL_');

/** Returns the page with both tables generated from the schema: our own settings, then those of OpenTelemetry. */
export function settingsPage(page = readFileSync(SETTINGS_PAGE, 'utf8')): string {
  const names = Object.keys(settingsSchema.shape) as Name[];
  const tables = [names.filter((name) => !isOfTraces(name)), names.filter(isOfTraces)].map(table);
  const found = /^\| setting .*\n(?:\|.*\n)+/gm;
  if ([...page.matchAll(found)].length !== tables.length) throw new Error('docs/settings.md has not its two tables.');
  return page.replace(found, () => tables.shift() as string);
}

function table(names: readonly Name[]): string {
  const rows = names.map((name) => [`\`${name}\``, defaultOf(name), meaningOf(name).meaning]);
  const widths = HEADINGS.map((heading, place) =>
    Math.max(...[heading, ...rows.map((row) => row[place] ?? '')].map(length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, place) => cell.padEnd(widths[place] ?? 0)).join(' | ')} |\n`;
  return [HEADINGS, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('');
}

const length = (text: string): number => text.length;

function defaultOf(name: Name): string {
  const { derivedDefault, imageDefault } = meaningOf(name);
  const image = imageDefault === undefined ? '' : ` (image: ${imageDefault})`;
  return `${derivedDefault ?? ownDefault(name)}${image}`;
}

function ownDefault(name: Name): string {
  const unset = settingsSchema.shape[name].safeParse(undefined);
  if (!unset.success) return 'required';
  const { data } = unset;
  if (data === undefined || (Array.isArray(data) && data.length === 0)) return 'none';
  return typeof data === 'object' && 'burst' in data ? `${data.perMinute}/${data.burst}` : String(data);
}
