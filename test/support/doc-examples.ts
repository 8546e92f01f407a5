import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const LANGUAGES = ['sh', 'js', 'python'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Example {
  readonly page: string;
  readonly language: Language;
  /** The value of `run=`. Null for a block that is not run. */
  readonly name: string | null;
  readonly code: string;
}

const BLOCK = /^```(sh|js|python)(?: run=(\S+))?\n([\s\S]*?)^```$/gm;

/** Returns a page's code blocks in the languages of runnable examples. */
export function examplesOf(page: string): Example[] {
  const text = readFileSync(join(__dirname, '../../docs', page), 'utf8');
  return [...text.matchAll(BLOCK)].map(([, language, name, code]) => ({
    page,
    language: language as Language,
    name: name ?? null,
    code: code as string,
  }));
}

/** Returns the code block of a page that is shown as a file. */
export function shownFile(page: string, name: string): string {
  const text = readFileSync(join(__dirname, '../../docs', page), 'utf8');
  const [, code] = new RegExp(`^\`\`\`\\w+ file=${name}\\n([^]*?)^\`\`\`$`, 'm').exec(text) ?? [];
  if (code === undefined) throw new Error(`${page} shows no ${name}`);
  return code;
}
