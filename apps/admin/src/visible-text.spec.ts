import { visibleText } from './visible-text';

describe('Text from other people', () => {
  it.each([
    ['a C0 control', '\u001b[2J', '\\u{1b}[2J'],
    ['a C1 control', '\u009b2J', '\\u{9b}2J'],
    ['a bidirectional override', 'a\u202eb', 'a\\u{202e}b'],
    ['a bidirectional isolate', '\u2066', '\\u{2066}'],
    ['a byte order mark', '\ufeff', '\\u{feff}'],
    ['a line separator', '\u2028', '\\u{2028}'],
    ['an invisible tag beyond the first plane', '\u{e0041}', '\\u{e0041}'],
    ['delete', '\u007f', '\\u{7f}'],
  ])('shows %s', (_what, text, shown) => expect(visibleText(text)).toBe(shown));

  it('leaves the rest unchanged', () => expect(visibleText('“Süd” 🗝 ❤️ é')).toBe('“Süd” 🗝 ❤️ é'));
});
