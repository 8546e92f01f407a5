import type { InputFault } from './domain-error';
import { ValidationFailed } from './validation-failed';

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
