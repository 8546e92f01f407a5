/**
 * How new the data of a read must be. `newest` reads the primary and sees every commit. `recent` may read a standby,
 * which lags five seconds at most.
 */
export type Freshness = 'newest' | 'recent';
