import { type InputFaults, type Place, stepsInto } from '#libs/kernel';

/** No array and no object of a body has more entries. More would keep class-validator busy. */
const MOST_ENTRIES = 100;

/** `ValidationPipe` and class-transformer drop such members in silence. */
const isDropped = (step: string | number): boolean => step in Object.prototype || step === 'prototype';

/**
 * Copies a value of a body without what would not be validated as it was sent, and adds a fault for each such place.
 * Of an array or object that is too long it keeps one entry too many, so that a check of its length fails too.
 */
export function readableBody(value: unknown, faults: InputFaults, place: Place = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = stepsInto(value);
  if (entries.length > MOST_ENTRIES) faults.addMember(place, 'length', `must have at most ${MOST_ENTRIES} entries.`);
  const kept: [string | number, unknown][] = [];
  for (const [step, inner] of entries.slice(0, MOST_ENTRIES + 1)) {
    const within = [...place, step];
    if (isDropped(step)) faults.addMember(within, 'unknown', 'is not a member of this request.');
    // class-validator would look for objects in an array within an array. It refuses null where an object must be.
    else if (Array.isArray(value) && Array.isArray(inner)) kept.push([step, null]);
    else kept.push([step, readableBody(inner, faults, within)]);
  }
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
}
