import { type FinishedCommand } from './running-command';

export interface Row {
  readonly [member: string]: unknown;
}

/** Expects exactly one JSON document, and nothing on stderr. */
export function documentOf(finished: FinishedCommand): Row {
  expect([finished.stderr, finished.exitCode]).toEqual(['', 0]);
  return JSON.parse(finished.stdout) as Row;
}

/** Expects one line on stderr, nothing on stdout and no stack. */
export function expectFault(finished: FinishedCommand, exitCode: number, line: RegExp): void {
  expect([finished.stdout, finished.exitCode]).toEqual(['', exitCode]);
  expect(finished.stderr).toMatch(/^error: [^\n]+\n$/);
  expect(finished.stderr).toMatch(line);
}
