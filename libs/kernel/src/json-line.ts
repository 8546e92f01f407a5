/** Characters at which readers such as Python's `splitlines` end a line. JSON escapes the other ones itself. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** JSON that every reader takes for one line, without its line end. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(LINE_ENDS, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
