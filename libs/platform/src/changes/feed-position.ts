/** Where a reader stands in a feed, as its cursor keeps it. */
export interface FeedPosition {
  /** The set that was read last; 0 before the first one. */
  readonly sequence: string;
  /** The random mark of that set; empty where there is no set to recognise. */
  readonly mark: string;
  /** The order key of the last row that was read in the set: sub key, then internal id. */
  readonly subKey: string;
  readonly id: string;
  /** The newest set when the reader began. */
  readonly begunAt: string;
  /** Removals up to this set are of no interest: the reader began after them. */
  readonly removalsAfter: string;
}

/** Behind every row of a set. */
export const END_OF_SET = { subKey: '32767', id: '0' } as const;

export function writePosition({ sequence, mark, subKey, id, begunAt, removalsAfter }: FeedPosition): string {
  return [sequence, mark, subKey, id, begunAt, removalsAfter].join(' ');
}

export function readPosition(text: string): FeedPosition {
  const [sequence = '0', mark = '', subKey = '0', id = '0', begunAt = '0', removalsAfter = '0'] = text.split(' ');
  return { sequence, mark, subKey, id, begunAt, removalsAfter };
}
