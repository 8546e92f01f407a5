import type { Contract } from './contract-document';

/** Removes the value at the place. */
export const REMOVED = undefined;

/** Returns a copy of a contract with some changes. A place is a path separated by spaces, such as `info version`. */
export function planted(contract: Contract, changes: Readonly<Record<string, unknown>>): Contract {
  const copy = structuredClone(contract);
  for (const [place, value] of Object.entries(changes)) {
    const steps = place.split(' ');
    const last = steps.pop() as string;
    const holder = steps.reduce<Record<string, unknown>>(
      (at, step) => at[step] as Record<string, unknown>,
      copy as unknown as Record<string, unknown>,
    );
    if (value === REMOVED) delete holder[last];
    else holder[last] = value;
  }
  return copy;
}
