/**
 * Postgres is starting, stopping or full, refuses logins, or the database is missing during a restore (SQLSTATE classes
 * of the Postgres manual).
 */
const AWAY_SQLSTATES = /^(08...|28...|3D000|53...|57P0[1-5]|58...)$/;
/** A statement was cancelled or timed out, or the server accepts no writes. */
const PASSING_SQLSTATES = /^(57014|55P03|40001|40P01|25006|25P0[23])$/;

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

/** Messages of node-postgres and its pool, which carry no code. */
const LOST_MESSAGES = /Connection terminated|Query read timeout|Client has encountered a connection error/;
const POOL_IS_FULL = 'timeout exceeded when trying to connect';

/** An administrator, a crash, a limit or a middlebox ended the session. */
const ENDED_SQLSTATES = /^(08...|57P0[125])$/;
const ENDED = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);
const ENDED_MESSAGES = /Connection terminated(?! due to connection timeout)|Client has encountered a connection error/;

/** Tells whether an open connection broke. A new one may still work, and a slow connection is not lost. */
export function connectionWasLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string') return ENDED_SQLSTATES.test(code) || ENDED.has(code);
  return ENDED_MESSAGES.test(error.message);
}

/** Tells whether no connection was available in time: all were in use, or Postgres accepted a new one too slowly. */
export function connectionTimedOut(error: unknown): boolean {
  return error instanceof Error && (error.message === POOL_IS_FULL || error.message.includes('connection timeout'));
}

/** Tells whether a statement had no answer in time. Postgres may still carry it out. */
export function queryTimedOut(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Tells whether the connection was lost or refused, or the server is silent. Other statements would fail, too. */
export function databaseIsAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return AWAY_SQLSTATES.test(code) || LOST_CONNECTION.has(code) || LOST_MESSAGES.test(error.message);
}

/** Tells whether Postgres is down, unreachable or too slow. Other errors are faults of the statement. */
export function databaseIsUnavailable(error: unknown): boolean {
  if (databaseIsAway(error)) return true;
  return error instanceof Error && (PASSING_SQLSTATES.test(codeOf(error)) || error.message === POOL_IS_FULL);
}

const codeOf = (error: Error): string => String((error as { readonly code?: unknown }).code);
