// Files that the build reads.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SOURCE_FOLDERS = ['apps', 'docs', 'libs'];
/** As in tsconfig.build.json: files that no program loads are not built. */
const NOT_BUILT = /\.(spec|fake|contract|d)\.ts$/;

export function readSources() {
  const sources = new Map();
  for (const top of SOURCE_FOLDERS) {
    if (!existsSync(join(ROOT, top))) continue;
    for (const entry of readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(ts|md)$/.test(entry.name) || NOT_BUILT.test(entry.name)) continue;
      const file = join(entry.parentPath ?? entry.path, entry.name);
      const text = readFileSync(file, 'utf8');
      sources.set(file.slice(ROOT.length), { text, hash: hash(text), changedAt: statSync(file).mtimeMs });
    }
  }
  return sources;
}

export function hash(...parts) {
  const digest = createHash('sha1');
  for (const part of parts) digest.update(part).update('\0');
  return digest.digest('base64');
}
