import { RE2JS } from 're2js';

const compiled = new Map<string, RE2JS>();

/**
 * A regular expression whose time grows with the length of the text only. JSONata makes one from each RegExp that an
 * expression holds.
 */
export class LinearRegex {
  lastIndex = 0;
  private readonly pattern: RE2JS;

  /** @throws for what RE2 does not know: look-around and back-references */
  constructor(regex: RegExp) {
    const name = `${regex.flags}/${regex.source}`;
    this.pattern = compiled.get(name) ?? compile(regex);
    compiled.set(name, this.pattern);
  }

  exec(text: string): RegExpExecArray | null {
    const matcher = this.pattern.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? undefined);
    return Object.assign(groups as string[], { index: matcher.start(), input: text }) as RegExpExecArray;
  }
}

function compile(regex: RegExp): RE2JS {
  const flags = (regex.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (regex.multiline ? RE2JS.MULTILINE : 0);
  return RE2JS.compile(RE2JS.translateRegExp(regex.source), flags);
}
