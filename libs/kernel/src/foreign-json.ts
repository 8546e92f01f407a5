/** Lists and objects within each other, in JSON of somebody else. Programs write a dozen. */
const MOST_LEVELS = 1_000;

/**
 * Parses JSON of somebody else. Node 26 corrupts its memory, and crashes, when JSON breaks off some thousand levels deep.
 * @throws RangeError for more than 1000 levels, and SyntaxError for other text than JSON
 */
export function parseForeignJson(text: string): unknown {
  if (isDeeperThan(text, MOST_LEVELS)) {
    throw new RangeError(`has more than ${MOST_LEVELS} lists and objects within each other`);
  }
  return JSON.parse(text);
}

/** Counts brackets outside strings, as far as the text is JSON. */
export function isDeeperThan(text: string, levels: number): boolean {
  if (!mayBeDeeperThan(text, levels)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > levels) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}

/** Returns the place of the quote that ends the string that begins at `start`, or a place behind the text. */
export function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end;
}

/** Counts opening brackets anywhere: on the lines of an import this takes little time. */
function mayBeDeeperThan(text: string, levels: number): boolean {
  let left = levels;
  for (const bracket of ['[', '{']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}
