import { ReplyError } from 'ioredis';

/**
 * Replies of a server that currently refuses all work: it is loading, a replica, read-only, out of memory, blocked by a
 * script, out of connections, part of an incomplete cluster, or gives its user too few rights.
 */
const AWAY_REPLIES = [
  ...['LOADING', 'BUSY', 'READONLY', 'MASTERDOWN', 'MISCONF', 'NOREPLICAS', 'OOM', 'NOAUTH', 'WRONGPASS'],
  ...['NOPERM', 'CLUSTERDOWN', 'TRYAGAIN', 'MOVED', 'ASK', 'DENIED', 'ERR max number of clients'],
];
/** Before Redis 7 the word follows a dash in the error of the script that met it. */
const AWAY_REPLY = new RegExp(`^(?:${AWAY_REPLIES.join('|')})\\b|-(?:${AWAY_REPLIES.join('|')}) `);

const REDIRECTION = /^(?:MOVED|ASK) /;

/** Client errors that are less specific than the last error of the connection. */
const NOT_CONNECTED =
  /^(?:Stream isn't writeable|Connection is closed|Cluster isn't ready|None of startup nodes|Reached )/;

const isReply = (error: unknown): error is Error => error instanceof (ReplyError as typeof Error);

/**
 * Tells whether an error means that Redis is away. Otherwise Redis found the command itself wrong: a wrong type, a
 * script error, an unknown script. That says nothing about the next command.
 */
export function meansAway(error: unknown): boolean {
  return !isReply(error) || AWAY_REPLY.test(error.message);
}

/** Tells whether Redis refused the database of the URL. The client would otherwise continue with the default one. */
export function refusesDatabase(error: unknown): boolean {
  return isReply(error) && (error as { command?: { name?: unknown } }).command?.name === 'select';
}

/** Tells whether the error explains why there is no connection. */
export const namesCause = (error: unknown): boolean => !NOT_CONNECTED.test(String((error as Partial<Error>).message));

/**
 * Describes an error for the log, without addresses, names or arguments. `before` is the last error of the connection.
 */
export function reasonOf(error: unknown, before?: unknown): string {
  const { message, code, lastNodeError } = error as Partial<Record<'message' | 'code' | 'lastNodeError', unknown>>;
  if (typeof message !== 'string') return 'unknown';
  if (REDIRECTION.test(message)) return 'it is a node of a cluster, and REDIS_URL says redis:// of one node';
  if (isReply(error)) return message.replace(/, with args beginning with.*/s, '').slice(0, 200);
  if (typeof code === 'string') return code;
  if (lastNodeError) return reasonOf(lastNodeError);
  if (NOT_CONNECTED.test(message)) return before ? reasonOf(before) : 'not connected';
  if (/sentinel/i.test(message)) return 'no sentinel knows the primary';
  if (message.startsWith('Too many Cluster redirections')) return 'too many redirections within the cluster';
  return 'no reply in time';
}
