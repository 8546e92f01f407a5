import { DomainError } from '#libs/kernel';

/** A reader's position in a feed, as its cursor keeps it. */
export interface FeedPosition {
  /** The set that was read last; 0 before the first one. */
  readonly sequence: string;
  /** The order key of the last row that was read in the set: kind, then internal id. */
  readonly kind: string;
  readonly id: string;
  /** The newest set when the page was read, and its random mark. A database that has it has the reader's whole past. */
  readonly newest: string;
  /** Empty where there was no set yet. */
  readonly mark: string;
  /** Removals up to this set are of no interest: the reader began after them. */
  readonly removalsAfter: string;
  /** The reader wants only changes at or after it, and none was yet. */
  readonly since?: Date;
}

/** The largest bigint of Postgres: behind every set and every version. */
export const LARGEST = '9223372036854775807';
/** The first and the last kind of items that a change set names. */
export const EVERY_KIND = [0, 32_766] as const;
/** Behind every row of a set. */
export const END_OF_SET = { kind: '32767', id: '0' } as const;

export function writePosition({ sequence, kind, id, newest, mark, removalsAfter, since }: FeedPosition): string {
  return [sequence, kind, id, newest, mark, removalsAfter, ...(since ? [since.toISOString()] : [])].join(' ');
}

export function readPosition(text: string): FeedPosition {
  const [sequence = '0', kind = '0', id = '0', newest = '0', mark = '', removalsAfter = '0', since] = text.split(' ');
  return { sequence, kind, id, newest, mark, removalsAfter, ...(since ? { since: new Date(since) } : {}) };
}

const DETAILS = {
  pageCursor: {
    diverged: 'The data was restored to a state from before this cursor. Begin without a cursor.',
    purged: 'Removed items that you have not seen were deleted for good. Begin without a cursor.',
  },
  since: {
    diverged: 'After this time an operator had every reader begin again. Begin without since.',
    purged: 'Removed items that you have not seen were deleted for good. Begin without since.',
  },
} as const;

/** The feed cannot go on from here without a gap; the reader must begin again. */
export class CursorExpired extends DomainError {
  constructor(code: 'diverged' | 'purged', parameter: keyof typeof DETAILS = 'pageCursor') {
    const detail = DETAILS[parameter][code];
    super('cursor_expired', detail, [{ parameter, code, detail }]);
  }
}
