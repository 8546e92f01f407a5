/**
 * How new what is read must be: everything that was committed before this moment must be in it. Milliseconds by
 * `performance.now()` of the process that reads.
 */
export type Freshness = number;

/** All that is committed, as only the primary knows it. What a read is given unless it asks for less. */
export const NEWEST: Freshness = Infinity;
