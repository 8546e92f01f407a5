/**
 * Postgres is starting, stopping, full, gave up waiting, lets us in no more or has the database not yet, as while it is
 * restored: conditions that pass (SQLSTATE classes of its manual).
 */
const PASSING_SQLSTATES = /^(08...|28...|3D000|53...|57P0[1-5]|57014|55P03|40001|40P01|25006|25P0[23]|58...)$/;

const LOST_CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** What node-postgres and its pool say without a code. */
const LOST_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error/;

/** An administrator, a crash or a limit ended the session, or what stands in between did. */
const ENDED_SQLSTATES = /^(08...|57P0[125])$/;
const ENDED = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);
const ENDED_MESSAGES = /Connection terminated(?! due to connection timeout)|Client has encountered a connection error/;

/** Whether a connection that there was is gone, which says nothing of the next one. What is only slow is not lost. */
export function connectionWasLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string') return ENDED_SQLSTATES.test(code) || ENDED.has(code);
  return ENDED_MESSAGES.test(error.message);
}

/** Whether a connection was not had in time: all were in use, or Postgres took too long to accept another one. */
export function connectionTimedOut(error: unknown): boolean {
  return error instanceof Error && /timeout exceeded when trying to connect|connection timeout/.test(error.message);
}

/** Whether this error means that Postgres is down, unreachable or too slow, rather than that we asked wrongly. */
export function databaseIsUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && (PASSING_SQLSTATES.test(code) || LOST_CONNECTION.has(code))) return true;
  return LOST_MESSAGES.test(error.message);
}
