import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A code block of a guide that makes or changes a file. */
export interface GuideBlock {
  readonly kind: 'whole' | 'change';
  readonly file: string;
  readonly text: string;
}

const BLOCK = /^```(ts|diff) file=(\S+)\n([\s\S]*?)^```$/gm;

export const pageText = (page: string): string => readFileSync(join(__dirname, '../../docs', page), 'utf8');

/** Returns the blocks of a page in `docs` that name a file, in their order. */
export const blocksOf = (page: string): GuideBlock[] =>
  [...pageText(page).matchAll(BLOCK)].map(([, language, file = '', text = '']) => ({
    kind: language === 'diff' ? 'change' : 'whole',
    file,
    text,
  }));

/** Applies the hunks of a change, which lines of `@@` separate. @throws when a hunk has no place, or several */
export function changed(before: string, { file, text }: GuideBlock): string {
  return text.split(/^@@\n/m).reduce((now, hunk) => {
    const lines = hunk.split('\n').slice(0, -1);
    const without = (sign: string) =>
      lines.filter((line) => !line.startsWith(sign)).map((line) => `${line.slice(1)}\n`);
    const parts = now.split(without('+').join(''));
    if (parts.length !== 2) throw new Error(`${file}: ${parts.length - 1} places for\n${hunk}`);
    return parts.join(without('-').join(''));
  }, before);
}
