import { check } from './member';

/** Limits the number of entries of an array. */
export const lengthOf = ({ minItems = 0, maxItems }: { readonly minItems?: number; readonly maxItems: number }) =>
  check({
    code: 'length',
    isValid: (value) => (value as unknown[]).length >= minItems && (value as unknown[]).length <= maxItems,
    message: `must have ${minItems} to ${maxItems} entries`,
  });
