import { DomainError } from '#libs/kernel';

const DETAILS = {
  diverged: 'The data was restored to a state from before this cursor. Begin without a cursor.',
  purged: 'Removed items that you have not seen were deleted for good. Begin without a cursor.',
} as const;

/** The feed cannot go on from here without a gap; the reader must begin again. */
export class CursorExpired extends DomainError {
  constructor(code: keyof typeof DETAILS, parameter: 'pageCursor' | 'since' = 'pageCursor') {
    super('cursor_expired', DETAILS[code], [{ parameter, code, detail: DETAILS[code] }]);
  }
}
