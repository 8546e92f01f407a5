import { shown } from './client-text';
import type { InputFault } from './domain-error';
import { InputFaults, ValidationFailed } from './input-faults';

const thrown = (faults: InputFaults): ValidationFailed => {
  try {
    faults.throwAny();
  } catch (error) {
    return error as ValidationFailed;
  }
  throw new Error('nothing was thrown');
};

describe('Input faults', () => {
  it('are thrown together, with RFC 6901 pointers', () => {
    const faults = new InputFaults();
    faults.throwAny();
    faults.addMember(['tags', 0, 'a/b~c'], 'format', 'must be a string.');
    faults.addMember(['tags', 1], 'format', 'must be an object.');
    faults.addMember([], 'format', 'must be an object.');
    expect(thrown(faults).faults).toEqual([
      { pointer: '/tags/0/a~1b~0c', code: 'format', detail: 'a/b~c must be a string.' },
      { pointer: '/tags/1', code: 'format', detail: 'Entry 1 of tags must be an object.' },
      { pointer: '', code: 'format', detail: 'The body must be an object.' },
    ]);
  });

  it('are twenty at most, each of limited length', () => {
    const faults = new InputFaults();
    for (let index = 0; index < 1_000; index += 1)
      faults.addMember(['~'.repeat(100_000), index], 'unknown', 'is unknown.');
    const { faults: named, detail } = thrown(faults);
    expect([faults.isFull, named.length]).toEqual([true, 20]);
    expect(JSON.stringify(named).length + detail.length).toBeLessThan(10_000);
  });

  it('are never cut within a character', () => {
    expect(shown('😀'.repeat(65))).toBe(`${'😀'.repeat(64)}…`);
    expect(shown(`a${'😀'.repeat(70)}`)).toBe(`a${'😀'.repeat(63)}…`);
    expect(shown('x'.repeat(64))).toBe('x'.repeat(64));
  });
});

const detailOf = (...details: readonly string[]): string =>
  new ValidationFailed(details.map((detail): InputFault => ({ parameter: 'x', code: 'format', detail }))).detail;

describe('The detail of validation_failed', () => {
  it('names each fault in turn', () => {
    expect(detailOf('a is wrong.', 'b is wrong.')).toBe('a is wrong. b is wrong.');
    expect(detailOf()).toBe('The request is malformed.');
  });

  it('has at most a thousand characters and ends with a complete fault', () => {
    const faults = Array.from({ length: 20 }, (_, index) => `${String(index).padStart(68, 'x')} is unknown.`);
    const detail = detailOf(...faults);
    expect(detail).toMatch(/11 is unknown\. …$/);
    expect(detail.length).toBeLessThanOrEqual(1_000);
  });

  it('is cut when the first fault alone is longer', () => {
    const detail = detailOf('x'.repeat(2_000), 'y is wrong.');
    expect(detail).toMatch(/^x+…$/);
    expect(detail.length).toBeLessThanOrEqual(1_000);
  });
});
