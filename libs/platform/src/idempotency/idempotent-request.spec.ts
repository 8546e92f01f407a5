import fc from 'fast-check';
import { fingerprintOf } from './idempotent-request';

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
      of({}, 'H/v1/inventory/assets/1', 'PATC'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('stays what it is from release to release, for records hold it', () => {
    expect(of({ b: 1, a: 'é' })).toBe('c699c2cb6e1332c27f74d7defe6f4964c15a6e559aad7ef560077d24bec2e35e');
  });
});
