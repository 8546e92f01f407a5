import { DomainError } from '#libs/kernel';

/** A reader's position in the list, as its cursor keeps it. */
export interface EventPosition {
  /** The event that was read last. 0 before the first one. */
  readonly sequence: number;
  /** The id of that event, which tells it from any other one in its place. Empty before the first one. */
  readonly eventId: string;
  /** The reader wants only events recorded at or after it, and none was yet. */
  readonly since?: Date;
}

export const BEFORE_ALL_EVENTS: EventPosition = { sequence: 0, eventId: '' };

export const writePosition = ({ sequence, eventId, since }: EventPosition): string =>
  `${sequence} ${eventId}${since ? ` ${since.toISOString()}` : ''}`;

export function readPosition(text: string): EventPosition {
  const [sequence = '0', eventId = '', since] = text.split(' ');
  return { sequence: Number(sequence), eventId, ...(since ? { since: new Date(since) } : {}) };
}

const DETAILS = {
  diverged: 'The cursor is of an audit that this database does not have. Begin without a cursor.',
  purged: 'Events that the reader has not seen were archived. Begin without a cursor.',
  archived: 'Events since this time were archived. Begin without since.',
} as const;

/** The list cannot go on from the cursor or the time without a gap. */
export class AuditCursorExpired extends DomainError {
  constructor(code: keyof typeof DETAILS) {
    const parameter = code === 'archived' ? 'since' : 'pageCursor';
    super('cursor_expired', DETAILS[code], [{ parameter, code, detail: DETAILS[code] }]);
  }
}
