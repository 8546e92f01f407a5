/** The embedded Postgres cannot be used. The message tells the person at the terminal the fault and the remedy. */
export class EmbeddedPostgresFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EmbeddedPostgresFault';
  }
}

export const OWN_DATABASE_ADVICE = 'or run a Postgres of your own and set DATABASE_URL';

/** Describes a failed system call or program. Returns existing faults unchanged. */
export function faultFrom(error: unknown, doing: string): EmbeddedPostgresFault {
  if (error instanceof EmbeddedPostgresFault) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const message = error instanceof Error ? error.message : String(error);
  const cause = { cause: error };
  if (code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device|Disk quota exceeded/.test(message)) {
    return new EmbeddedPostgresFault(
      `${doing}: the disk is full. Free some space (a new database needs about 60 MB) or set LOCAL_DIR to a directory on another disk.`,
      cause,
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST') {
    return new EmbeddedPostgresFault(
      `${doing}: ${message}. Make the place writable, set LOCAL_DIR to a directory that is, ${OWN_DATABASE_ADVICE}.`,
      cause,
    );
  }
  return new EmbeddedPostgresFault(`${doing}: ${message}`, cause);
}
