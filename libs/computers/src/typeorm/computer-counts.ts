import { LAST_MILLISECOND } from '#libs/kernel';
import { type ComputerFilter, posturesOf } from '../domain/computer-filter';
import { POSTURES } from '../domain/posture';

/** Checks are counted by spans of two hours. Within half of one they are few enough to be counted one by one. */
export const SPAN_MS = 2 * 3_600_000;
/** `computer_count.kind`; see migration 1780000000060-listed-computers. */
export const KINDS = { posture: 0, check: 1, source: 2 } as const;

/** The key of computers that were never checked. It is less than every span. */
export const NEVER_CHECKED_KEY = '(-9223372036854775808)::bigint';

/** SQL of a sum of counters of workspace $1. */
export const sumOf = (kind: keyof typeof KINDS, condition: string): string =>
  `(SELECT coalesce(sum(n), 0) FROM computer_count WHERE workspace_id = $1 AND kind = ${KINDS[kind]} AND ${condition})`;

/** The same sums in one pass over all counters, each as a column. */
export const sumsOf = (sums: readonly (readonly [kind: keyof typeof KINDS, condition: string])[]): string => `
  SELECT ${sums.map(([kind, condition]) => `coalesce(sum(n) FILTER (WHERE kind = ${KINDS[kind]} AND ${condition}), 0)`).join(', ')}
    FROM computer_count WHERE workspace_id = $1`;

/** Whole spans since 1970. */
export const spanOf = (time: Date): number => Math.floor(time.getTime() / SPAN_MS);
/** The span that begins nearest to a time, and not after {@link LAST_MILLISECOND}. */
export const nearestSpan = (time: Date): number =>
  Math.min(Math.round(time.getTime() / SPAN_MS), Math.floor(LAST_MILLISECOND / SPAN_MS));

/** The numbers in `listed_computer.posture` that match a filter, as an array of Postgres. */
export const postureCodesOf = (filter: ComputerFilter): string =>
  `{${posturesOf(filter)
    .map((posture) => POSTURES.indexOf(posture))
    .join(',')}}`;
