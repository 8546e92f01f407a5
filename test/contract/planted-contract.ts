import type { Contract } from './contract-document';

/** What stands at the place is taken away. */
export const REMOVED = undefined;

/** A copy of a contract with some places changed. A place is its steps with spaces between, as in `info version`. */
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
