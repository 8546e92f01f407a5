import { type Attempt, type History } from './operation-log';

type Responded = Extract<Attempt, { kind: 'response' }>;

const isDone = ({ status }: Responded): boolean => status === 200;
const isRefusedForNow = ({ status, code, retryAfter }: Responded): boolean =>
  (status === 503 || code === 'idempotency_in_progress') && retryAfter !== null;

/** Returns responses that clients should never see. Empty when all guarantees hold. */
export function responseFaults(histories: Iterable<History>): string[] {
  return [...histories].flatMap(({ operation, attempts }) =>
    faultsOf(attempts).map((fault) => `${operation.key}: ${fault}`),
  );
}

function faultsOf(attempts: readonly Attempt[]): string[] {
  const responses = attempts.filter((attempt) => attempt.kind === 'response');
  const done = responses.filter(isDone);
  const unexpected = responses.filter((response) => !isDone(response) && !isRefusedForNow(response));
  const firsts = done.filter(({ replayed }) => !replayed);
  // An attempt without a response or with 503 may have been the first.
  const firstMayBeUnheard = attempts.some((attempt) => attempt.kind === 'lost' || attempt.status === 503);
  const different = new Set(done.map(({ text, entityTag }) => `${entityTag} ${text}`)).size > 1;
  return [
    ...unexpected.map(({ status, text }) => `got ${status} ${text}`),
    ...(done.length === 0 ? ['never acknowledged'] : []),
    ...(different ? [`responses differ: ${done.map(({ text }) => text).join(' | ')}`] : []),
    ...(firsts.length > 1 ? [`${firsts.length} responses say that they are no replay`] : []),
    ...(firsts.length === 0 && done.length > 0 && !firstMayBeUnheard ? ['only replays, but of what'] : []),
  ];
}

/** Counts responses and lost attempts, for the test's output. */
export function tally(histories: Iterable<History>): Record<string, number> {
  const counts: Record<string, number> = { acknowledged: 0, replays: 0, refused: 0, lost: 0 };
  const count = (name: string) => (counts[name] = (counts[name] ?? 0) + 1);
  for (const { attempts } of histories) {
    for (const attempt of attempts) {
      if (attempt.kind === 'lost') count('lost');
      else if (!isDone(attempt)) count('refused');
      else count(attempt.replayed ? 'replays' : 'acknowledged');
    }
  }
  return counts;
}
