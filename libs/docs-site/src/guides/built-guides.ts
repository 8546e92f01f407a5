import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { projectPath } from '../served-file';

/** The built guides. They are one file, so the search index belongs to the pages. */
export interface BuiltGuides {
  readonly overview: string;
  /** The HTML of each guide, by its name. */
  readonly pages: Readonly<Record<string, string>>;
  readonly index: object;
}

const FILE = 'dist/guides.json';

export const readBuiltGuides = (): BuiltGuides => JSON.parse(readFileSync(projectPath(FILE), 'utf8')) as BuiltGuides;

/** Replaces the file at once, because an API may read it. */
export function writeBuiltGuides(guides: BuiltGuides): void {
  const draft = projectPath(`${FILE}.${process.pid}.new`);
  writeFileSync(draft, JSON.stringify(guides));
  renameSync(draft, projectPath(FILE));
}
