import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { fingerprintOf, idempotencyKeyHash } from './idempotent-request';

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

  it('ignores the case of an id in the path', () => {
    expect(of({}, '/v1/inventory/assets/0AF')).toBe(of({}, '/v1/inventory/assets/0af'));
  });

  it('stays what it is from release to release, for records hold it', () => {
    expect(of({ b: 1, a: 'é' })).toBe('c699c2cb6e1332c27f74d7defe6f4964c15a6e559aad7ef560077d24bec2e35e');
  });
});

/** A header as Node exposes it: one character for each byte. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const hashOf = (...sent: string[]): string =>
  idempotencyKeyHash({ headersDistinct: { 'idempotency-key': sent } } as unknown as IncomingMessage);
const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

describe('The hash of an Idempotency-Key', () => {
  it('is that of its UTF-8 without spaces around it', () => {
    expect(hashOf('a key')).toBe(sha256('a key'));
    expect(hashOf(bytesOf(' Schlüssel '))).toBe(sha256('Schlüssel'));
  });

  it('is that of all bytes of a key that is not UTF-8', () => {
    expect(hashOf('\xff ')).toBe(sha256(Buffer.from([0xff, 0x20])));
    expect(hashOf('\xff')).not.toBe(hashOf(bytesOf('\xff')));
    expect(hashOf('\xff')).not.toBe(hashOf(bytesOf('\ufffd')));
  });

  it('needs one key of 1 to 256 characters without control characters', () => {
    const fault = (...sent: string[]): unknown => {
      try {
        return hashOf(...sent);
      } catch (error) {
        return (error as { faults?: unknown }).faults;
      }
    };
    const refused = (code: string, what: string): unknown => [
      { header: 'Idempotency-Key', code, detail: `Idempotency-Key ${what}` },
    ];
    const required = refused('required', 'is required and must not be empty.');
    expect(fault()).toEqual(required);
    expect(fault(' ')).toEqual(required);
    expect(fault('a', 'a')).toEqual(refused('duplicated', 'must be given once.'));
    expect(fault(bytesOf('\u{1f511}'.repeat(256)))).toEqual(sha256('\u{1f511}'.repeat(256)));
    expect(fault('a'.repeat(257))).toEqual(refused('length', 'must have at most 256 characters.'));
    expect(fault('a\tb')).toEqual(refused('format', 'must not contain control characters.'));
    expect(() => idempotencyKeyHash({ headersDistinct: {} } as IncomingMessage)).toThrow();
  });
});
