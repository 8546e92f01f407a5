import { type ProblemCode, type components } from './contract';

type ProblemBody = components['schemas']['Problem'];

/** An input at fault: where it stands (`pointer` into the body, `parameter` or `header`) and what is wrong with it. */
export type InputFault = NonNullable<ProblemBody['errors']>[number];

/** The API refused: an answer that is no success. Decide by `code`. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    /**
     * New codes may be added, so a `switch` needs a default. `unexpected_answer`: what answered was not the API but
     * something in between, or an answer that breaks the contract; its `status` may be 200.
     */
    readonly code: ProblemCode | 'unexpected_answer' | (string & {}),
    readonly status: number,
    readonly detail: string,
    readonly errors: readonly InputFault[],
    /** To quote when you report something; null when the answer had none. */
    readonly requestId: string | null,
    /** When to try again; null when the answer did not say. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(`${status} ${code}: ${detail}`);
  }

  static async of(response: Response): Promise<Problem> {
    if (response.status < 400) return Problem.unexpected(response, 'A redirect, which is not followed.');
    // What stands in between may answer anything, JSON of its own too.
    const body = ((await response.json().catch(() => null)) ?? {}) as Readonly<Record<keyof ProblemBody, unknown>>;
    return new Problem(
      textOr('unexpected_answer', body.code),
      response.status,
      textOr(response.statusText, body.detail),
      Array.isArray(body.errors) ? (body.errors as InputFault[]) : [],
      textOr(response.headers.get('X-Request-Id'), body.requestId),
      retryAfterSeconds(response.headers),
    );
  }

  /** Of an answer that breaks the contract, which is not quoted: who knows what it holds. */
  static unexpected({ status, headers }: Pick<Response, 'status' | 'headers'>, detail: string): Problem {
    return new Problem('unexpected_answer', status, detail, [], headers.get('X-Request-Id'), null);
  }
}

/** No answer came, or not all of it, or no token in time: a connection was lost, or it took too long. A write may have been applied. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';

  constructor(cause: unknown) {
    super(`No answer: ${reasonOf(cause)}`, { cause });
  }
}

function textOr<Other>(other: Other, value: unknown): string | Other {
  return typeof value === 'string' ? value : other;
}

/**
 * `Retry-After` in seconds (RFC 9110, 10.2.3), which proxies also send as a date: one of their clock, which `Date` tells
 * and from which that of this machine may differ.
 */
function retryAfterSeconds(headers: Headers): number | null {
  const value = headers.get('Retry-After');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  const now = Date.parse(headers.get('Date') ?? '');
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - (Number.isNaN(now) ? Date.now() : now)) / 1000));
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as {
    readonly message: string;
    readonly cause?: { message?: string; code?: string };
  };
  // fetch hides what happened in its cause, which has a code alone when several addresses were tried.
  return cause?.message || cause?.code || message;
}
