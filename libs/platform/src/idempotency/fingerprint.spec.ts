import fc from 'fast-check';
import { fingerprintOf } from './fingerprint';

const JSON_TYPE = 'application/json';
const of = (value: unknown, path = '/v1/inventory/assets/1', method = 'PATCH') =>
  fingerprintOf(method, path, { mediaType: JSON_TYPE, value });

describe('The fingerprint of a request', () => {
  it('ignores the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(of(reversed)).toBe(of(value));
      }),
    );
  });

  it('differs for different JSON', () => {
    const variants = [
      {},
      { a: null },
      { a: '' },
      { a: 0 },
      { a: '0' },
      { a: [] },
      { a: [1, 2] },
      { a: [2, 1] },
      [],
      null,
    ];
    expect(new Set(variants.map((value) => of(value))).size).toBe(variants.length);
  });

  it('differs by method, path and media type, wherever one ends and the next begins', () => {
    const all = [
      of({}),
      of({}, '/v1/inventory/assets/2'),
      of({}, '/v1/inventory/assets/1', 'POST'),
      fingerprintOf('PATCH', '/v1/inventory/assets/1', { mediaType: 'application/merge-patch+json', value: {} }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
