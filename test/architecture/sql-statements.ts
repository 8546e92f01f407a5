/** A statement as Postgres would run it, with the comments in it or before it. */
export interface SqlStatement {
  /** One line without comments, in upper case except literals. Contents of strings are removed. */
  readonly text: string;
  readonly comments: readonly string[];
  /** Dollar-quoted texts: bodies of functions and of DO. */
  readonly bodies: readonly string[];
}

const TOKEN =
  /--[^\n]*|\/\*[^]*?\*\/|(\$(?:[a-z_]\w*)?\$)[^]*?\1|(?<!\w)E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|;|[^]/gi;

/** Splits a query into its statements. */
export function statementsOf(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let [text, comments, bodies]: [string, string[], string[]] = ['', [], []];
  const end = (): void => {
    if (text.trim() !== '') statements.push({ text: onOneLine(text), comments, bodies });
    [text, comments, bodies] = ['', [], []];
  };
  for (const [token, quote] of sql.matchAll(TOKEN)) {
    if (token === ';') end();
    else if (token.startsWith('--') || token.startsWith('/*')) {
      comments.push(token.replace(/^(--|\/\*)\s*|\s*(\*\/)?$/g, ''));
      text += ' ';
    } else if (quote !== undefined) {
      bodies.push(token.slice(quote.length, -quote.length));
      text += '$$';
    } else if (token.length > 1 && /^E?'/i.test(token)) text += "''";
    else text += token.startsWith('"') ? token.slice(1, -1).toUpperCase() : token.toUpperCase();
  }
  end();
  return statements;
}

const onOneLine = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/ ?\. ?/g, '.')
    .trim();

/** Splits at the commas that stand in no brackets. */
export function partsOf(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of list) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim());
}
