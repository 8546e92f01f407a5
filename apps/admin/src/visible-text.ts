/** Control and format characters, bidirectional ones too, and line separators: a terminal would obey them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * What others wrote, for a terminal, which it must not steer, nor turn its text around: characters that are not seen but do
 * something are spelt out, as `\u{202e}`.
 */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}
