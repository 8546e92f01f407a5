/** Control and format characters, bidirectional ones and line separators, all of which affect a terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Makes others' text safe for a terminal: it must neither control the terminal nor reverse the text. Invisible
 * characters are escaped, as in `\u{202e}`.
 */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}
