import { type ProblemCode, type components } from './contract';
import { jsonObject } from './json-object';

type ProblemBody = components['schemas']['Problem'];

/** An invalid input: its place (`pointer` into the body, `parameter` or `header`) and the fault. */
export type InputFault = NonNullable<ProblemBody['errors']>[number];

/** An error response of the API. Decide by `code`. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    /**
     * New codes may be added, so a `switch` needs a default. `unexpected_answer` means that something else than the API
     * responded, or that a response breaks the contract; its `status` may be 200.
     */
    readonly code: ProblemCode | 'unexpected_answer' | (string & {}),
    readonly status: number,
    readonly detail: string,
    readonly errors: readonly InputFault[],
    /** Quote it when you report a fault. Null when the response had none. */
    readonly requestId: string | null,
    /** When to try again. Null when the response does not say. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(`${status} ${code}: ${detail}`);
  }

  static async of(response: Response): Promise<Problem> {
    // A proxy may respond with anything, even with JSON of its own.
    const body: Partial<Record<keyof ProblemBody, unknown>> = jsonObject(await response.text()) ?? {};
    if (response.status < 400) return Problem.unexpected(response, 'A redirect, which is not followed.');
    return new Problem(
      textOr('unexpected_answer', body.code),
      response.status,
      textOr(response.statusText, body.detail),
      Array.isArray(body.errors) ? (body.errors as InputFault[]) : [],
      textOr(response.headers.get('X-Request-Id'), body.requestId),
      retryAfterSeconds(response.headers),
    );
  }

  /** Describes a response that breaks the contract, without quoting it. */
  static unexpected({ status, headers }: Pick<Response, 'status' | 'headers'>, detail: string): Problem {
    return new Problem('unexpected_answer', status, detail, [], headers.get('X-Request-Id'), null);
  }
}

/**
 * No complete response arrived, or no token in time: the connection was lost or too slow. A write may have been
 * applied.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';

  constructor(cause: unknown) {
    super(`No response: ${reasonOf(cause)}`, { cause });
  }
}

function textOr<Other>(other: Other, value: unknown): string | Other {
  return typeof value === 'string' ? value : other;
}

/**
 * Parses `Retry-After` into seconds (RFC 9110, 10.2.3). Proxies also send a date by their own clock, so it is compared
 * with the `Date` header.
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
  // fetch hides the reason in its cause. After trying several addresses, the cause has only a code.
  return cause?.message || cause?.code || message;
}
