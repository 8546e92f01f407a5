/** Postgres is starting, stopping, full, or gave up waiting: conditions that pass (SQLSTATE classes of its manual). */
const PASSING_SQLSTATES = /^(08...|53...|57P0[1-5]|57014|55P03|40001|40P01|25006|25P0[23]|58...)$/;

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
