import { DomainError, type ErrorCode } from '#libs/kernel';
import { type Problem, toProblem } from './problem';
import { PROBLEMS } from './problem-table';

/** The request id of every example. */
const EXAMPLE_REQUEST_ID = '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10';

/** A complete response with this code, as the contract and the problem's page show it. */
export function problemExample(code: ErrorCode, baseUrl: string): Problem {
  const { detail, instance, errors } = PROBLEMS[code].example;
  return toProblem(new DomainError(code, detail, errors), { baseUrl, instance, requestId: EXAMPLE_REQUEST_ID });
}
