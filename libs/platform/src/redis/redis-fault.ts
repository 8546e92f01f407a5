import { ReplyError } from 'ioredis';

/**
 * Answers of a server that will not do its work for a while, whatever it is asked: it loads, is a replica, may not write,
 * has no memory left, is held up by a script, takes no connection, or belongs to a cluster that lost a part.
 */
const AWAY_ANSWERS = [
  ...['LOADING', 'BUSY', 'READONLY', 'MASTERDOWN', 'MISCONF', 'NOREPLICAS', 'OOM', 'NOAUTH', 'WRONGPASS'],
  ...['CLUSTERDOWN', 'TRYAGAIN', 'MOVED', 'ASK', 'DENIED', 'ERR max number of clients'],
];
/** Before Redis 7 the word stands behind a dash in the error of the script that met it. */
const AWAY_ANSWER = new RegExp(`^(?:${AWAY_ANSWERS.join('|')})\\b|-(?:${AWAY_ANSWERS.join('|')}) `);

const REDIRECTION = /^(?:MOVED|ASK) /;

/** Errors of the client that say less than what was wrong with the connection last. */
const NOT_CONNECTED =
  /^(?:Stream isn't writeable|Connection is closed|Cluster isn't ready|None of startup nodes|Reached )/;

const isAnswer = (error: unknown): error is Error => error instanceof (ReplyError as typeof Error);

/**
 * Whether what went wrong says that Redis is away. Otherwise it answered and found the command itself wrong (a wrong type,
 * a fault of a script, a script it does not know), which says nothing about the next command.
 */
export function meansAway(error: unknown): boolean {
  return !isAnswer(error) || AWAY_ANSWER.test(error.message);
}

/** Whether the database that the address names was refused: by itself the client would go on with the first one. */
export function refusesDatabase(error: unknown): boolean {
  return isAnswer(error) && (error as { command?: { name?: unknown } }).command?.name === 'select';
}

/** Whether this tells why there is no connection, rather than that there is none. */
export const tellsWhy = (error: unknown): boolean => !NOT_CONNECTED.test(String((error as Partial<Error>).message));

/** What went wrong, for the log: without addresses, names or arguments. `before` is what went wrong with the connection last. */
export function reasonOf(error: unknown, before?: unknown): string {
  const { message, code, lastNodeError } = error as Partial<Record<'message' | 'code' | 'lastNodeError', unknown>>;
  if (typeof message !== 'string') return 'unknown';
  if (REDIRECTION.test(message)) return 'it is a node of a cluster, and REDIS_URL says redis:// of one node';
  if (isAnswer(error)) return message.replace(/, with args beginning with.*/s, '').slice(0, 200);
  if (typeof code === 'string') return code;
  if (lastNodeError) return reasonOf(lastNodeError);
  if (NOT_CONNECTED.test(message)) return before ? reasonOf(before) : 'not connected';
  if (/sentinel/i.test(message)) return 'no sentinel tells where the primary is';
  if (message.startsWith('Too many Cluster redirections')) return 'the nodes of the cluster send to each other';
  return 'no answer in time';
}
