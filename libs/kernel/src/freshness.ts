/**
 * How new the data of a read must be. `newest` shows everything that is committed, as only the primary does. `recent` may
 * come from a standby, which lags five seconds at most.
 */
export type Freshness = 'newest' | 'recent';
