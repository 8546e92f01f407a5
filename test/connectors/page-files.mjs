// Files that the pages of docs show.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGES = join(dirname(fileURLToPath(import.meta.url)), '../../docs');

/** Writes the code blocks with `file=` of a page into a directory. */
export function writePageFiles(page, directory) {
  const text = readFileSync(join(PAGES, page), 'utf8');
  const blocks = [...text.matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)];
  if (blocks.length === 0) throw new Error(`docs/${page} shows no file`);
  for (const [, name, code] of blocks) writeFileSync(join(directory, name), code);
}
