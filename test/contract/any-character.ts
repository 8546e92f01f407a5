import fc from 'fast-check';

/** Any code point that is no half of a pair. fast-check's own unit `binary` takes four seconds before its first use. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
