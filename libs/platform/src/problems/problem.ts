import { DomainError, type ErrorCode, type InputFault } from '#libs/kernel';
import { databaseIsUnavailable } from '../database/connections/database-fault';
import { PROBLEMS, TITLES } from './problem-table';

/** Body of every error (RFC 7807; specification, Errors). `errors` lists invalid inputs. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly instance: string;
  readonly requestId: string;
  readonly errors?: readonly InputFault[];
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
/** Conditions that pass without the client's doing. Their responses say when to retry. */
export const RETRIED_AT_ONCE: readonly ErrorCode[] = ['service_unavailable', 'idempotency_in_progress'];
/** The request id of every example. */
const EXAMPLE_REQUEST_ID = '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10';

/** Turns any thrown value into a domain error that a client may see. Unexpected errors become `internal_error`. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  const code: ErrorCode = databaseIsUnavailable(thrown) ? 'service_unavailable' : 'internal_error';
  return new DomainError(code, PROBLEMS[code].example.detail);
}

/** `instance` is the path of the request without its query. */
export function toProblem(
  error: DomainError,
  request: { readonly baseUrl: string; readonly instance: string; readonly requestId: string },
): Problem {
  const { status } = PROBLEMS[error.code];
  return {
    type: `${request.baseUrl}/problems/${error.code}`,
    title: TITLES[status],
    status,
    code: error.code,
    detail: error.detail,
    instance: request.instance,
    requestId: request.requestId,
    ...(error.faults.length > 0 ? { errors: error.faults } : {}),
  };
}

/** A complete response with this code, as the contract and the problem's page show it. */
export function problemExample(code: ErrorCode, baseUrl: string): Problem {
  const { detail, instance, errors } = PROBLEMS[code].example;
  return toProblem(new DomainError(code, detail, errors), { baseUrl, instance, requestId: EXAMPLE_REQUEST_ID });
}
