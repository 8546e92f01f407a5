import { DomainError } from '#libs/kernel';

const DETAILS = {
  diverged: 'The cursor is of a state that this database does not have. Begin without a cursor.',
  purged: 'Removed items that the reader has not seen were purged. Begin without a cursor.',
} as const;

/** The feed cannot go on from here without a gap; the reader must begin again. */
export class CursorExpired extends DomainError {
  constructor(code: keyof typeof DETAILS, parameter: 'pageCursor' | 'since' = 'pageCursor') {
    super('cursor_expired', DETAILS[code], [{ parameter, code, detail: DETAILS[code] }]);
  }
}
