import type { Contract } from './contract-document';

/** Returns a contract with these paths only, and the components that they refer to. Small ones are linted sooner. */
export function partOf(contract: Contract, paths: readonly string[]): Contract {
  const kept = Object.entries(contract.paths).filter(([path]) => paths.includes(path));
  const copy = { ...structuredClone(contract), paths: Object.fromEntries(kept) };
  for (let left = NaN, before = 0; left !== before;) {
    before = left;
    left = 0;
    const text = JSON.stringify(copy);
    for (const [kind, named] of Object.entries(copy.components as Record<string, Record<string, unknown>>)) {
      if (kind === 'securitySchemes') continue;
      for (const name of Object.keys(named)) {
        if (text.includes(`"#/components/${kind}/${name}"`)) left += 1;
        else delete named[name];
      }
    }
  }
  return copy;
}

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
